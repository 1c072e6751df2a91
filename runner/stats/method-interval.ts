import { bayesianBounds } from "./bayesian-bounds.ts";
import { type DifferenceMoments, type Differences, differenceMoments } from "./differences.ts";
import { flooredT, type Interval } from "./floored-t.ts";
import type { AnalysisMethod, AnalysisPlan } from "./plan.ts";

/** An interval with what is needed to compute it again. */
export interface MethodInterval extends Interval {
  readonly method: "ft15" | "e-half";
  /** FT15 only: the p-value that belongs to the interval. */
  readonly p?: number;
  /** E½ only. */
  readonly draws?: number;
  readonly seed?: string;
}

const OF: Readonly<
  Record<AnalysisMethod, (differences: Differences, moments: DifferenceMoments, alpha: number) => MethodInterval>
> = {
  "ft15-and-sign-flip": (_, moments, alpha) => {
    const { low, high, p } = flooredT(moments, alpha);
    return { method: "ft15", low, high, p };
  },
  "e-half-and-sign-flip": (differences, _, alpha) => ({ method: "e-half", ...bayesianBounds(differences, { alpha }) }),
};

/**
 * The interval that a plan's method gives for the mean of task differences of scores in [0, 1], for every result that has one: the primary,
 * the secondary ones, the worst case.
 * @throws RangeError below two tasks.
 */
export function methodInterval(
  { method, alpha }: Pick<AnalysisPlan, "method" | "alpha">,
  differences: Differences,
  moments: DifferenceMoments = differenceMoments(differences),
): MethodInterval {
  if (moments.count < 2) throw new RangeError(`Expected at least 2 tasks, got ${moments.count}`);
  return OF[method](differences, moments, alpha);
}
