/** The rules a plan can choose; each needs its interval and the exact sign-flip test to agree. */
export const ANALYSIS_METHODS = ["ft15-and-sign-flip", "e-half-and-sign-flip"] as const;

/** `e-half-and-sign-flip` is the conservative mode: it also holds when a few tasks may collapse completely. */
export type AnalysisMethod = (typeof ANALYSIS_METHODS)[number];

/** The frozen analysis of a study. */
export interface AnalysisPlan {
  readonly method: AnalysisMethod;
  /** Two-sided level, between 0 and 1; the simulations behind FT15 are for 0.05. */
  readonly alpha: number;
  /** A pair with an unscored side is dropped whole and reported. */
  readonly missing: "drop-pair";
  /** Least share of planned pairs that must be complete. */
  readonly minCoverage: number;
  /** Greatest difference of the unscored shares of the two conditions. */
  readonly maxDropImbalance: number;
}

/** @throws RangeError naming the member of the plan that cannot be used. */
export function checkPlan(plan: AnalysisPlan): void {
  if (!(plan.alpha > 0 && plan.alpha < 1)) throw new RangeError(`analysis.alpha is ${plan.alpha}, not between 0 and 1`);
  for (const name of ["minCoverage", "maxDropImbalance"] as const) {
    if (!(plan[name] >= 0 && plan[name] <= 1))
      throw new RangeError(`analysis.${name} is ${plan[name]}, not from 0 to 1`);
  }
}
