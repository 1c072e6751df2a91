import { seededRandom } from "../base/random.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { normalCdf, normalQuantile } from "../stats/normal.ts";
import { sortedQuantile } from "../stats/quantiles.ts";

/** An interval, ends included. */
export interface Range {
  readonly low: number;
  readonly high: number;
}

/** Percentile and BCa intervals of one statistic. */
export interface Intervals {
  readonly value: number | null;
  readonly percentile: Known<Range>;
  readonly bca: Known<Range>;
  readonly undefinedResamples: number;
}

/** Sums of one column: over all clusters, over each resample, and with each cluster left out. */
export interface ColumnSums {
  readonly all: number;
  readonly resampled: Float64Array;
  readonly without: Float64Array;
}

/** Resamples drawn once and used for many statistics of the same clusters. */
export interface SharedDraws {
  readonly columnSums: (totals: readonly number[]) => ColumnSums;
  /** Intervals of a statistic of column sums; NaN where it is undefined. */
  readonly intervals: (columns: readonly ColumnSums[], statistic: (sums: Float64Array) => number) => Intervals;
}

/**
 * Draws `resamples` sets of whole clusters. The intervals of a statistic equal those of the single-statistic cluster bootstrap with the same
 * seed; drawing once makes many statistics affordable and comparable.
 */
export function sharedDraws(clusters: number, seed: string, resamples: number, alpha = 0.05): SharedDraws {
  const draws = new Uint32Array(clusters < 2 ? 0 : clusters * resamples);
  const random = seededRandom(seed);
  for (let at = 0; at < draws.length; at += 1) draws[at] = random.below(clusters);

  const columnSums = (totals: readonly number[]): ColumnSums => {
    const values = Float64Array.from(totals);
    const all = values.reduce((sum, value) => sum + value, 0);
    const resampled = new Float64Array(draws.length / Math.max(1, clusters));
    for (let resample = 0, at = 0; resample < resampled.length; resample += 1) {
      let sum = 0;
      for (const end = at + clusters; at < end; at += 1) sum += values[draws[at] as number] as number;
      resampled[resample] = sum;
    }
    return { all, resampled, without: values.map((value) => all - value) };
  };

  const intervals: SharedDraws["intervals"] = (columns, statistic) => {
    const sums = new Float64Array(columns.length);
    const at = (pick: (column: ColumnSums) => number): number => {
      columns.forEach((column, index) => {
        sums[index] = pick(column);
      });
      return statistic(sums);
    };
    const estimate = at((column) => column.all);
    const none = (detail: string, undefinedResamples: number): Intervals => {
      const missing = unknown("unavailable", detail);
      return { value: Number.isNaN(estimate) ? null : estimate, percentile: missing, bca: missing, undefinedResamples };
    };
    if (Number.isNaN(estimate)) return none("the score is undefined for these data", 0);
    if (clusters < 2) return none("one problem shows no spread between problems", 0);
    const values = Float64Array.from({ length: resamples }, (_, index) =>
      at((column) => column.resampled[index] as number),
    );
    const sorted = values.filter((value) => !Number.isNaN(value)).sort();
    const undefinedResamples = resamples - sorted.length;
    if (sorted.length === 0) return none("the score is undefined in every resample", undefinedResamples);
    if (sorted[0] === sorted[sorted.length - 1]) {
      return none("all resamples agree: no spread was seen, which is no proof that there is none", undefinedResamples);
    }
    const left = Float64Array.from({ length: clusters }, (_, index) => at((column) => column.without[index] as number));
    return {
      value: estimate,
      percentile: { low: sortedQuantile(sorted, alpha / 2), high: sortedQuantile(sorted, 1 - alpha / 2) },
      bca: bcaRange(sorted, estimate, left, alpha),
      undefinedResamples,
    };
  };
  return { columnSums, intervals };
}

/** The bias-corrected and accelerated interval (Efron 1987); resamples equal to the estimate count half to either side. */
function bcaRange(sorted: Float64Array, estimate: number, left: Float64Array, alpha: number): Known<Range> {
  if (left.some(Number.isNaN)) return unknown("unavailable", "the score is undefined without one of the problems");
  const mean = left.reduce((sum, value) => sum + value, 0) / left.length;
  let [second, third] = [0, 0];
  for (const value of left) {
    second += (mean - value) ** 2;
    third += (mean - value) ** 3;
  }
  const acceleration = second === 0 ? 0 : third / (6 * second ** 1.5);
  const below = sorted.reduce((sum, value) => sum + (value < estimate ? 1 : value === estimate ? 0.5 : 0), 0);
  const share = below / sorted.length;
  if (share <= 0 || share >= 1) return unknown("unavailable", "all resamples lie on one side of the estimate");
  const bias = normalQuantile(share);
  const at = (probability: number): number => {
    const z = bias + normalQuantile(probability);
    return sortedQuantile(sorted, normalCdf(bias + z / (1 - acceleration * z)));
  };
  return { low: at(alpha / 2), high: at(1 - alpha / 2) };
}
