/** Longest wait that a `Retry-After` may ask for, in milliseconds. */
const LONGEST_ASKED = 600_000;

/**
 * The wait that a `Retry-After` header asks for, in milliseconds: seconds or an HTTP date (RFC 9110, 10.2.3). Null when there is none or it
 * cannot be read; at most ten minutes.
 */
export function retryAfter(header: string | undefined, nowMs: number): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^[0-9]+(\.[0-9]+)?$/.test(text)) return Math.min(LONGEST_ASKED, Number(text) * 1000);
  const date = Date.parse(text);
  return Number.isNaN(date) ? null : Math.min(LONGEST_ASKED, Math.max(0, date - nowMs));
}

/** Full jitter: a wait between 0 and `base`, 2 `base`, 4 `base` … up to `longest` milliseconds; `uniform` is a number in [0, 1). */
export function jitteredWait(failures: number, base: number, longest: number, uniform: number): number {
  return uniform * Math.min(longest, base * 2 ** Math.min(failures - 1, 30));
}
