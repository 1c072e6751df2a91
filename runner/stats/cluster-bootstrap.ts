import type { Random } from "../base/random.ts";
import { type Known, unknown } from "../base/unknown.ts";
import type { Interval } from "./floored-t.ts";
import { normalCdf, normalQuantile } from "./normal.ts";
import { sortedQuantile } from "./quantiles.ts";

/** Resamples of whole clusters (problems), drawn once and used for many scores of the same clusters. */
export interface ClusterDraws {
  readonly clusters: number;
  readonly resamples: number;
  /** The drawn clusters, one resample after the other. */
  readonly picks: Uint16Array | Uint32Array;
}

/** Sums of one column of totals: over all clusters, over each resample, and with each cluster left out. */
export interface ColumnSums {
  readonly all: number;
  readonly resampled: Float64Array;
  readonly without: Float64Array;
}

/** A score of column sums with its intervals. */
export interface ClusterIntervals {
  /** Null where the score is undefined. */
  readonly value: number | null;
  readonly percentile: Known<Interval>;
  /** Bias-corrected and accelerated. */
  readonly bca: Known<Interval>;
  /** Resamples in which the score was undefined; left out. */
  readonly undefinedResamples: number;
}

/** Draws between two pauses: about a millisecond. */
const DRAWS_AT_ONCE = 20_000;

/** Draws `resamples` sets of `clusters` clusters with replacement, and pauses now and then for whoever has something better to do. */
export function* drawingClusters(
  clusters: number,
  random: Random,
  resamples: number,
): Generator<undefined, ClusterDraws> {
  const size = clusters < 2 ? 0 : clusters * resamples;
  const picks = clusters <= 0x1_0000 ? new Uint16Array(size) : new Uint32Array(size);
  for (let at = 0; at < size; at += 1) {
    if (at % DRAWS_AT_ONCE === 0) yield;
    picks[at] = random.below(clusters);
  }
  return { clusters, resamples, picks };
}

/** Draws `resamples` sets of `clusters` clusters with replacement. */
export function drawClusters(clusters: number, random: Random, resamples: number): ClusterDraws {
  const drawing = drawingClusters(clusters, random, resamples);
  for (;;) {
    const step = drawing.next();
    if (step.done === true) return step.value;
  }
}

/**
 * Sums columns of totals, one total a cluster each. Four columns go through the draws together, since the draws are what takes the time.
 * @throws RangeError for a column of another length, or totals that are not finite.
 */
export function sumColumns(draws: ClusterDraws, columns: readonly (readonly number[])[]): ColumnSums[] {
  const { clusters } = draws;
  for (const { length } of columns) {
    if (length !== clusters) throw new RangeError(`Expected ${clusters} totals in each column, got ${length}`);
  }
  const bad = columns.flat().find((total) => !Number.isFinite(total));
  if (bad !== undefined) throw new RangeError(`Expected finite totals, got ${bad}`);
  const sums: ColumnSums[] = [];
  for (let first = 0; first < columns.length; first += 4) {
    const group = columns.slice(first, first + 4).map((totals) => Float64Array.from(totals));
    resampledSums(draws, group).forEach((resampled, index) => {
      const values = group[index] ?? new Float64Array();
      const all = values.reduce((sum, value) => sum + value, 0);
      sums.push({ all, resampled, without: values.map((value) => all - value) });
    });
  }
  return sums;
}

/** Sums in the order of the draws, so that a column's sums do not depend on its company. */
function resampledSums({ clusters, picks }: ClusterDraws, columns: readonly Float64Array[]): Float64Array[] {
  const none = new Float64Array(clusters);
  const [a = none, b = none, c = none, d = none] = columns;
  const size = clusters < 2 ? 0 : picks.length / clusters;
  const sums = [
    new Float64Array(size),
    new Float64Array(size),
    new Float64Array(size),
    new Float64Array(size),
  ] as const;
  for (let resample = 0, at = 0; resample < size; resample += 1) {
    let [sumA, sumB, sumC, sumD] = [0, 0, 0, 0];
    for (const end = at + clusters; at < end; at += 1) {
      const pick = picks[at] as number;
      sumA += a[pick] as number;
      sumB += b[pick] as number;
      sumC += c[pick] as number;
      sumD += d[pick] as number;
    }
    sums[0][resample] = sumA;
    sums[1][resample] = sumB;
    sums[2][resample] = sumC;
    sums[3][resample] = sumD;
  }
  return sums.slice(0, columns.length);
}

/**
 * Percentile and BCa bootstrap intervals of a score of column sums, which gives NaN where it is undefined. For many clusters (problems of a
 * benchmark): below about 50 these intervals are too short, and for the paired comparison of few tasks FT15 is the method. Where the
 * resamples show no spread there is no interval, rather than one of zero width.
 */
export function clusterIntervals(
  draws: ClusterDraws,
  columns: readonly ColumnSums[],
  score: (sums: Float64Array) => number,
  alpha = 0.05,
): ClusterIntervals {
  const { clusters, resamples } = draws;
  const estimate = score(Float64Array.from(columns, ({ all }) => all));
  const none = (detail: string, undefinedResamples: number): ClusterIntervals => {
    const missing = unknown("unavailable", detail);
    return { value: Number.isNaN(estimate) ? null : estimate, percentile: missing, bca: missing, undefinedResamples };
  };
  if (Number.isNaN(estimate)) return none("the score is undefined for these data", 0);
  if (clusters < 2) return none("one problem shows no spread between problems", 0);
  const resampled = columns.map((column) => column.resampled);
  const defined = scores(resampled, resamples, score).filter((value) => !Number.isNaN(value));
  const sorted = defined.sort();
  const undefinedResamples = resamples - sorted.length;
  if (sorted.length === 0) return none("the score is undefined in every resample", undefinedResamples);
  if (sorted[0] === sorted[sorted.length - 1]) {
    return none("all resamples agree: no spread was seen, which is no proof that there is none", undefinedResamples);
  }
  const without = columns.map((column) => column.without);
  return {
    value: estimate,
    percentile: { low: sortedQuantile(sorted, alpha / 2), high: sortedQuantile(sorted, 1 - alpha / 2) },
    bca: bcaInterval(sorted, estimate, scores(without, clusters, score), alpha),
    undefinedResamples,
  };
}

/** The score of each of `count` sets of column sums. */
function scores(columns: readonly Float64Array[], count: number, score: (sums: Float64Array) => number): Float64Array {
  const values = new Float64Array(count);
  const sums = new Float64Array(columns.length);
  for (let index = 0; index < count; index += 1) {
    for (let column = 0; column < columns.length; column += 1) {
      sums[column] = (columns[column] as Float64Array)[index] as number;
    }
    values[index] = score(sums);
  }
  return values;
}

/** The bias-corrected and accelerated interval (Efron 1987); resamples equal to the estimate count half to either side. */
function bcaInterval(sorted: Float64Array, estimate: number, left: Float64Array, alpha: number): Known<Interval> {
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
