import type { Json } from "./json.ts";

/** Distinct parts that are remembered; beyond them a part is not looked for again. */
const MOST = 4096;
/** Characters of a part's text; a longer one hardly comes again. */
const LONGEST = 512;

/**
 * Makes a function that gives equal parts of JSON values one object, so that thousands of values that differ in a few numbers take the
 * memory of those alone. What it gives must not be changed.
 */
export function partSharer(): <T>(value: T) => T {
  const known = new Map<string, Json>();
  const share = (value: Json): Json => {
    if (typeof value !== "object" || value === null) return value;
    const own = value as Record<string, Json>;
    for (const key of Object.keys(own)) {
      const part = own[key];
      if (typeof part === "object" && part !== null) own[key] = share(part);
    }
    const text = JSON.stringify(value);
    if (text.length > LONGEST) return value;
    const first = known.get(text);
    if (first !== undefined) return first;
    if (known.size < MOST) known.set(text, value);
    return value;
  };
  return <T>(value: T) => share(value as Json) as T;
}
