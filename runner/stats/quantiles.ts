import type { Known } from "../base/unknown.ts";
import { unknown } from "../base/unknown.ts";

/** The quantile of sorted values, linear between neighbours (Hyndman and Fan's type 7, the default of R and NumPy). */
export function sortedQuantile(sorted: ArrayLike<number>, probability: number): number {
  if (!(probability >= 0 && probability <= 1)) throw new RangeError(`Expected a probability, got ${probability}`);
  const last = sorted.length - 1;
  if (last < 0) throw new RangeError("Expected at least 1 value, got none");
  const place = probability * last;
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, last)] as number;
  return low + (place - below) * (high - low);
}

/** Samples of a benchmark in few figures; tails that the number of samples cannot show are unknown. */
export interface SampleSummary {
  readonly count: number;
  readonly min: number;
  readonly median: number;
  readonly mean: number;
  readonly p95: Known<number>;
  readonly p99: Known<number>;
  readonly max: number;
}

/** Samples from which a tail quantile rests on more than the single greatest sample. */
const NEEDED = { p95: 20, p99: 100 } as const;

/** Summarises raw samples. @throws RangeError for no sample, or one that is not finite. */
export function summariseSamples(samples: ArrayLike<number>): SampleSummary {
  const sorted = Float64Array.from(samples).sort();
  if (sorted.length === 0) throw new RangeError("Expected at least 1 sample, got none");
  for (const value of sorted) {
    if (!Number.isFinite(value)) throw new RangeError(`Expected finite samples, got ${value}`);
  }
  const tail = (name: keyof typeof NEEDED, probability: number): Known<number> =>
    sorted.length >= NEEDED[name]
      ? sortedQuantile(sorted, probability)
      : unknown("unavailable", `${name} needs ${NEEDED[name]} samples, there are ${sorted.length}`);
  return {
    count: sorted.length,
    min: sortedQuantile(sorted, 0),
    median: sortedQuantile(sorted, 0.5),
    mean: sorted.reduce((sum, value) => sum + value, 0) / sorted.length,
    p95: tail("p95", 0.95),
    p99: tail("p99", 0.99),
    max: sortedQuantile(sorted, 1),
  };
}
