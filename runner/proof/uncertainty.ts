import type { Known } from "../base/unknown.ts";
import { type ColumnSums, type Range, sharedDraws } from "./bootstrap.ts";
import { byProblem, type Judged } from "./judged.ts";

/** A score with its 95 % bootstrap intervals, problems resampled whole. */
export interface Estimate {
  readonly value: number | null;
  readonly percentile: Known<Range>;
  readonly bca: Known<Range>;
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
}

/**
 * Prepares the intervals of a split. All its scores are computed on the same `resamples` drawn sets of problems, so that scores which differ
 * in one judgment differ in nothing else; the draws depend on seed and number of problems alone.
 */
export function makeResampler(proofs: readonly Judged[], seed: string, resamples: number): Resampler {
  const problems = byProblem(proofs);
  const draws = sharedDraws(problems.length, seed, resamples);
  // Scores share columns (a rate and its harmonic mean), so each column function is summed once.
  const known = new Map<Column, ColumnSums>();
  const sumsOf = (column: Column): ColumnSums => {
    const sums = known.get(column) ?? draws.columnSums(problems.map(column));
    known.set(column, sums);
    return sums;
  };
  const estimate = (measure: Measure): Estimate => {
    const { undefinedResamples, ...result } = draws.intervals(measure.columns.map(sumsOf), measure.score);
    return { ...result, undefined_resamples: undefinedResamples };
  };
  return { problems, seed, estimate };
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
