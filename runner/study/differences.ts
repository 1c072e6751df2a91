import { isDeepStrictEqual } from "node:util";
import { canonicalText } from "../base/canonical-json.ts";

/** One place at which two documents differ; an absent value is undefined. */
export interface Difference {
  /** JSON pointer; empty for the whole documents. */
  readonly pointer: string;
  readonly first: unknown;
  readonly second: unknown;
}

/** The places at which two JSON documents differ, in the order of their keys. */
export function differencesOf(first: unknown, second: unknown, pointer = ""): Difference[] {
  if (isDeepStrictEqual(first, second)) return [];
  if (isComposite(first) && isComposite(second) && Array.isArray(first) === Array.isArray(second)) {
    const [left, right] = [new Map(Object.entries(first)), new Map(Object.entries(second))];
    return [...new Set([...left.keys(), ...right.keys()])]
      .sort()
      .flatMap((key) =>
        differencesOf(left.get(key), right.get(key), `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`),
      );
  }
  return [{ pointer, first, second }];
}

/** A value in a reason: canonical JSON, cut where it is long. */
export function showValue(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = canonicalText(value);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}

function isComposite(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
