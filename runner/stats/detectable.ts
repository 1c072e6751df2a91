import { FLOOR_BELOW } from "./floored-t.ts";
import { normalQuantile } from "./normal.ts";
import type { AnalysisPlan } from "./plan.ts";
import { studentQuantile } from "./student-t.ts";

/** The chance of a verdict that "detectable" and "would decide" mean. */
export const POWER = 0.8;

/** The parts of a plan that decide. */
export type Rule = Pick<AnalysisPlan, "alpha" | "method">;

/** A design whose chance of a verdict is asked for. Differences are on the scale -1 to 1. */
export interface Design {
  readonly tasks: number;
  /** Deviation of the task differences. */
  readonly deviation: number;
  readonly offModal: number;
  /** The step of the grid on which differences lie: 1 / repetitions for yes/no scores. */
  readonly step: number;
}

/** The level that sign flips of so many tasks attain: the largest multiple of 2 / 2^n up to `alpha`, 0.031 for 6 tasks at 0.05. */
function attainedLevel(tasks: number, alpha: number): number {
  if (tasks > 40) return alpha;
  const smallest = 2 ** (1 - tasks);
  return Math.floor(alpha / smallest + 1e-12) * smallest;
}

/**
 * The mean m from which a signed (or randomly weighted) sum of task differences leaves 0 outside, in normal approximation:
 * (n m - shift)^2 = z^2 (sum of squares about 0 + extra). For sign flips the shift is one step, because ties count as extreme; for E½ shift
 * and extra are mean and variance of the pseudo-task's weight.
 */
function criticalMean({ tasks, deviation }: Design, alpha: number, shift: number, extra: number): number {
  const z2 = normalQuantile(1 - alpha / 2) ** 2;
  const a = tasks ** 2 - z2 * tasks;
  if (a <= 0) return Number.POSITIVE_INFINITY;
  const c = shift ** 2 - z2 * ((tasks - 1) * deviation ** 2 + extra);
  return (tasks * shift + Math.sqrt(Math.max(0, (tasks * shift) ** 2 - a * c))) / a;
}

/**
 * The smallest mean difference that the plan's joint rule would call different with probability 0.8: the greatest of the critical means of
 * its interval and of the sign-flip test, and the power's quantile of the mean above it. Simulated in docs/statistics.md.
 */
export function detectable(design: Design, { alpha, method }: Rule): number {
  const { tasks, deviation, offModal, step } = design;
  const error = deviation / Math.sqrt(tasks);
  // Without spread all signs agree, and enough tasks decide.
  const flip = deviation === 0 ? 0 : criticalMean(design, attainedLevel(tasks, alpha), step, 0);
  const above = studentQuantile(POWER, tasks - 1) * error;
  if (method === "e-half-and-sign-flip") return Math.max(flip, criticalMean(design, alpha, 0.5, 0.5)) + above;
  const quantile = studentQuantile(1 - alpha / 2, tasks - 1);
  // FT15 excludes 0 only where 4 n m (1 + m) > t^2.
  const floor = offModal < FLOOR_BELOW ? (Math.sqrt(1 + quantile ** 2 / tasks) - 1) / 2 : 0;
  return Math.max(flip, quantile * error, floor) + above;
}
