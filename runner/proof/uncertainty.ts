import { seededRandom } from "../base/random.ts";
import type { Known } from "../base/unknown.ts";
import {
  type ClusterDraws,
  type ColumnSums,
  clusterIntervals,
  drawClusters,
  sumColumns,
} from "../stats/cluster-bootstrap.ts";
import type { Interval } from "../stats/floored-t.ts";
import { byProblem, type Judged } from "./judged.ts";

/** A score with its 95 % bootstrap intervals, problems resampled whole. */
export interface Estimate {
  readonly value: number | null;
  readonly percentile: Known<Interval>;
  readonly bca: Known<Interval>;
  /** Resamples in which the score was undefined (a class was not drawn); left out. */
  readonly undefined_resamples: number;
}

/** A total over one problem's proofs. */
export type Column = (proofs: readonly Judged[]) => number;

/** A score as a function of column sums. */
export interface Measure {
  readonly columns: readonly Column[];
  /** NaN where the score is undefined. */
  readonly score: (sums: Float64Array) => number;
}

/** Problems of a split with the draws that all its intervals share. */
export interface Resampler {
  readonly problems: readonly (readonly Judged[])[];
  readonly seed: string;
  readonly estimate: (measure: Measure) => Estimate;
  /** The same for many measures, faster than one by one. */
  readonly estimates: (measures: readonly Measure[]) => Estimate[];
}

/** Gives the draws for a number of problems, a seed and a number of resamples: always the same for the same three. */
export type DrawSource = (problems: number, seed: string, resamples: number) => ClusterDraws;

/** Draws when asked. */
export function drawNow(problems: number, seed: string, resamples: number): ClusterDraws {
  return drawClusters(problems, seededRandom(seed), resamples);
}

/**
 * Prepares the intervals of a split. All its scores are computed on the same `resamples` drawn sets of problems, so that scores which differ
 * in one judgment differ in nothing else; the draws depend on seed and number of problems alone.
 */
export function makeResampler(
  proofs: readonly Judged[],
  seed: string,
  resamples: number,
  drawn: DrawSource = drawNow,
): Resampler {
  const problems = byProblem(proofs);
  const draws = drawn(problems.length, seed, resamples);
  // Scores share columns (a rate and its harmonic mean), so each column function is summed once.
  const known = new Map<Column, ColumnSums>();
  const sumsOf = (columns: readonly Column[]): ColumnSums[] =>
    columns.map((column) => {
      const sums = known.get(column);
      if (sums === undefined) throw new TypeError("a column was not summed");
      return sums;
    });
  const estimates = (measures: readonly Measure[]): Estimate[] => {
    const fresh = [...new Set(measures.flatMap(({ columns }) => columns))].filter((column) => !known.has(column));
    const sums = sumColumns(
      draws,
      fresh.map((column) => problems.map(column)),
    );
    sums.forEach((sum, index) => {
      const column = fresh[index];
      if (column !== undefined) known.set(column, sum);
    });
    return measures.map((measure) => {
      const { undefinedResamples, ...result } = clusterIntervals(draws, sumsOf(measure.columns), measure.score);
      return { ...result, undefined_resamples: undefinedResamples };
    });
  };
  const estimate = (measure: Measure): Estimate => {
    const [result] = estimates([measure]);
    if (result === undefined) throw new TypeError("one measure gives one estimate");
    return result;
  };
  return { problems, seed, estimate, estimates };
}

/** Estimates under the names of their measures. */
export function estimateAll<Name extends string>(
  sampler: Resampler,
  measures: Readonly<Record<Name, Measure>>,
): Record<Name, Estimate> {
  const [row] = estimateRows(sampler, [measures]);
  if (row === undefined) throw new TypeError("one row gives one row");
  return row;
}

/** The same for several rows of measures at once. */
export function estimateRows<Name extends string>(
  sampler: Resampler,
  rows: readonly Readonly<Record<Name, Measure>>[],
): Record<Name, Estimate>[] {
  const found = sampler.estimates(rows.flatMap((row) => Object.values<Measure>(row))).values();
  const take = (): Estimate => {
    const next = found.next();
    if (next.done === true) throw new TypeError("each measure gives one estimate");
    return next.value;
  };
  return rows.map(
    (row) => Object.fromEntries(Object.keys(row).map((name) => [name, take()])) as Record<Name, Estimate>,
  );
}

/** One total divided by another; undefined where the second is 0. */
export function ratio(numerator: Column, denominator: Column): Measure {
  return { columns: [numerator, denominator], score: (sums) => (sums[0] as number) / (sums[1] as number) };
}

/** Two ratios joined by `join`; undefined where either is. */
export function joined(first: Measure, second: Measure, join: (a: number, b: number) => number): Measure {
  const split = first.columns.length;
  return {
    columns: [...first.columns, ...second.columns],
    score: (sums) => {
      const [a, b] = [first.score(sums.subarray(0, split)), second.score(sums.subarray(split))];
      return Number.isNaN(a) || Number.isNaN(b) ? Number.NaN : join(a, b);
    },
  };
}
