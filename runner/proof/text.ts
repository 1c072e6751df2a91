/**
 * White space of the reply rules: that of Unicode text as the public evaluator reads it. JavaScript's own class also has the byte order mark
 * and lacks U+001C to U+001F and U+0085, which would make the two disagree about an empty field.
 */
export const SPACE = "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";

const ONE = new RegExp(SPACE, "u");

/** Cuts white space off both ends. */
export function trim(text: string): string {
  let start = 0;
  while (start < text.length && ONE.test(text.charAt(start))) start += 1;
  return trimEnd(text.slice(start));
}

/** Cuts white space off the end. */
export function trimEnd(text: string): string {
  let end = text.length;
  while (end > 0 && ONE.test(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}
