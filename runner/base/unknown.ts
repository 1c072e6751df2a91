/** Why a value is not known. Never 0 and never absent: evidence that does not support a value says so. */
export type UnknownReason = "missing" | "stale" | "truncated" | "unavailable";

/** A value that evidence does not support, with its reason. */
export interface Unknown {
  readonly unknown: UnknownReason;
  /** One sentence for people. */
  readonly detail?: string;
}

/** A value, or the reason why there is none. */
export type Known<T> = T | Unknown;

/** Makes an unknown value. */
export function unknown(reason: UnknownReason, detail?: string): Unknown {
  return detail === undefined ? { unknown: reason } : { unknown: reason, detail };
}

/** Tells an unknown from a value. */
export function isUnknown(value: unknown): value is Unknown {
  return typeof value === "object" && value !== null && "unknown" in value;
}

/** Adds known values; one unknown makes the sum unknown, because a partial sum would read as a total. */
export function sumKnown(values: readonly Known<number>[]): Known<number> {
  let total = 0;
  for (const value of values) {
    if (isUnknown(value)) return value;
    total += value;
  }
  return total;
}
