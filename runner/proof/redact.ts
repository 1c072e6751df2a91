/** Takes the exact values of secrets out of texts. */
export interface Redactor {
  /** The text without the secrets, and whether one was in it, also behind JSON escapes. */
  readonly json: (body: string) => { readonly body: string; readonly redacted: boolean };
  readonly holds: (text: string) => boolean;
}

/** Shorter values (`EMPTY`, `none`) are what local servers take instead of a key; cutting them would cut ordinary words. */
export const SHORTEST_SECRET = 8;
const MARK = "[redacted]";

/** A redactor for the given secrets. */
export function makeRedactor(secrets: Iterable<string>): Redactor {
  // The longest first, so that a secret which contains another one goes whole.
  const values = [...new Set(secrets)]
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  const holds = (text: string): boolean => values.some((value) => text.includes(value));
  const clean = (text: string): string => values.reduce((rest, value) => rest.replaceAll(value, MARK), text);
  const json = (body: string): { body: string; redacted: boolean } => {
    if (values.length === 0) return { body, redacted: false };
    let found = holds(body);
    const first = clean(body);
    let decoded: unknown;
    try {
      decoded = JSON.parse(first, (_, value: unknown) => {
        if (typeof value !== "string" || !holds(value)) return value;
        found = true;
        return clean(value);
      });
    } catch {
      return { body: first, redacted: found };
    }
    if (!found) return { body, redacted: false };
    return {
      body: holds(JSON.stringify(decoded)) ? clean(JSON.stringify(decoded)) : JSON.stringify(decoded),
      redacted: true,
    };
  };
  return { json, holds };
}
