import type { Known } from "../base/unknown.ts";
import { isUnknown, unknown } from "../base/unknown.ts";

/** A metric over many trials whose unknown values are counted, never taken as 0. */
export interface KnownSummary {
  readonly count: number;
  readonly known: number;
  /** Unknown values by reason, reasons in alphabetical order. */
  readonly unknownByReason: Readonly<Record<string, number>>;
  /** Mean, least and greatest of the known values. */
  readonly mean: Known<number>;
  readonly min: Known<number>;
  readonly max: Known<number>;
  /** The sum, unknown as soon as one value is: a partial sum would read as a total. */
  readonly total: Known<number>;
}

/** Counts unknown values by their reason. */
export function countUnknown(values: readonly Known<number>[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) {
    if (isUnknown(value)) counts.set(value.unknown, (counts.get(value.unknown) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Summarises values some of which may be unknown. @throws RangeError for a value that is not finite. */
export function summariseKnown(values: readonly Known<number>[]): KnownSummary {
  const known = values.filter((value): value is number => !isUnknown(value));
  for (const value of known) {
    if (!Number.isFinite(value)) throw new RangeError(`Expected a finite number or an unknown, got ${value}`);
  }
  const missing = values.length - known.length;
  const none = unknown("missing", "no value is known");
  const sum = known.reduce((total, value) => total + value, 0);
  return {
    count: values.length,
    known: known.length,
    unknownByReason: countUnknown(values),
    mean: known.length === 0 ? none : sum / known.length,
    min: known.length === 0 ? none : known.reduce((a, b) => Math.min(a, b)),
    max: known.length === 0 ? none : known.reduce((a, b) => Math.max(a, b)),
    total:
      missing > 0 || known.length === 0 ? unknown("missing", `${missing} of ${values.length} values are unknown`) : sum,
  };
}
