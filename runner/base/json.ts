/** Any JSON value. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

/** A JSON value whose integers are kept exactly: those beyond 2^53 - 1 are bigint. */
export type ExactJson =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly ExactJson[]
  | { readonly [key: string]: ExactJson };

/** Tells a JSON object from every other value. */
export function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
