import type { Json } from "../../base/json.ts";

/** The first places, at most `limit`, at which two JSON values differ, each as one short sentence. */
export function differences(expected: Json, actual: Json, limit = 5): string[] {
  const found: string[] = [];
  compare(expected, actual, "", found, limit);
  return found;
}

function compare(expected: Json, actual: Json, pointer: string, found: string[], limit: number): void {
  if (found.length >= limit || Object.is(expected, actual)) return;
  const bothComposite = isComposite(expected) && isComposite(actual);
  if (!bothComposite || Array.isArray(expected) !== Array.isArray(actual)) {
    found.push(`at ${pointer || "the root"}: expected ${brief(expected)}, got ${brief(actual)}`);
    return;
  }
  const left = new Map<string, Json>(Object.entries(expected));
  const right = new Map<string, Json>(Object.entries(actual));
  for (const key of new Set([...left.keys(), ...right.keys()])) {
    const place = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
    const wanted = left.get(key);
    const seen = right.get(key);
    if (found.length >= limit) return;
    if (wanted === undefined) found.push(`at ${place}: not expected, got ${brief(seen ?? null)}`);
    else if (seen === undefined) found.push(`at ${place}: expected ${brief(wanted)}, got nothing`);
    else compare(wanted, seen, place, found, limit);
  }
}

function isComposite(value: Json): value is Json & object {
  return typeof value === "object" && value !== null;
}

function brief(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}...` : text;
}
