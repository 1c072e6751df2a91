import type { DifferenceMoments } from "./differences.ts";
import { studentQuantile, studentTail } from "./student-t.ts";

/** A closed interval on the scale of the difference. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}

/** The interval and the p-value that agrees with it. */
export interface FlooredT extends Interval {
  readonly p: number;
  /** True when the floor for few differing tasks took part. */
  readonly floored: boolean;
}

/** Tasks outside the commonest difference from which the plain t interval holds without a floor (simulated, docs/statistics.md). */
export const FLOOR_BELOW = 15;

/** Differences smaller than this are no difference: it is far below the step of any score. */
export const TOLERANCE = 1e-9;

/**
 * The FT15 interval for the mean of task differences that lie in [-1, 1], given the t quantile of the wanted level: the t interval, and
 * while fewer than 15 tasks lie outside the commonest difference, its hull with every theta that a two-point population of that mean
 * would support, |mean - theta| <= t sqrt(|theta| (1 - |theta|) / n). Clipped to [-1, 1]. Needs two tasks.
 */
export function flooredBounds(moments: DifferenceMoments, quantile: number): Interval {
  const { count, mean, squares, offModal } = moments;
  const half = quantile * Math.sqrt(squares / (count - 1) / count);
  let low = mean - half;
  let high = mean + half;
  if (offModal < FLOOR_BELOW) {
    const k = (quantile * quantile) / count;
    for (let sign = 1; sign >= -1; sign -= 2) {
      const signed = sign * mean;
      const b = 2 * signed + k;
      const discriminant = b * b - 4 * (1 + k) * signed * signed;
      if (discriminant < 0) continue;
      const root = Math.sqrt(discriminant);
      const far = (b + root) / (2 * (1 + k));
      if (far <= 0) continue;
      const near = Math.max(0, (b - root) / (2 * (1 + k)));
      low = Math.min(low, sign > 0 ? near : -far);
      high = Math.max(high, sign > 0 ? far : -near);
    }
  }
  return { low: Math.max(-1, low), high: Math.min(1, high) };
}

/** True when 0 lies outside the interval. */
export function excludesZero({ low, high }: Interval): boolean {
  return low > TOLERANCE || high < -TOLERANCE;
}

/** The two-sided p-value that is at most alpha exactly when the FT15 interval of level 1 - alpha excludes 0. Needs two tasks. */
export function flooredP({ count, mean, squares, offModal }: DifferenceMoments): number {
  const size = Math.abs(mean);
  if (size <= TOLERANCE) return 1;
  const error = Math.sqrt(squares / (count - 1) / count);
  const plain = error === 0 ? 0 : 2 * studentTail(size / error, count - 1);
  if (offModal >= FLOOR_BELOW) return plain;
  return Math.max(plain, 2 * studentTail(Math.sqrt(4 * count * size * (1 + size)), count - 1));
}

/**
 * FT15 for task differences in [-1, 1], two tasks or more. Deterministic. Calibrated at alpha 0.05 only.
 * @throws RangeError below two tasks, or for a difference outside [-1, 1].
 */
export function flooredT(moments: DifferenceMoments, alpha = 0.05): FlooredT {
  if (moments.count < 2)
    throw new RangeError(`Expected at least 2 tasks, got ${moments.count}: one task has no interval`);
  if (Math.abs(moments.mean) > 1 + TOLERANCE) {
    throw new RangeError(`Expected differences of scores in [0, 1], got a mean difference of ${moments.mean}`);
  }
  const quantile = studentQuantile(1 - alpha / 2, moments.count - 1);
  return { ...flooredBounds(moments, quantile), p: flooredP(moments), floored: moments.offModal < FLOOR_BELOW };
}

/** The plain paired t interval, for metrics without bounds. Needs two tasks and some spread. */
export function plainT({ count, mean, squares }: DifferenceMoments, alpha = 0.05): Interval {
  const half = studentQuantile(1 - alpha / 2, count - 1) * Math.sqrt(squares / (count - 1) / count);
  return { low: mean - half, high: mean + half };
}
