import { digestBytes } from "../base/digest.ts";
import type { Random } from "../base/random.ts";
import { seededRandom } from "../base/random.ts";
import type { Differences } from "./differences.ts";
import type { Interval } from "./floored-t.ts";
import { selectRank } from "./select.ts";

/** Weight of the pseudo-task at the end of the scale: one half (E½) or one (E1, Gaffke's bound). */
export type PseudoWeight = 0.5 | 1;

/** The interval with what is needed to draw it again. */
export interface BayesianBounds extends Interval {
  readonly draws: number;
  readonly seed: string;
}

export interface BayesianBoundsOptions {
  readonly weight?: PseudoWeight;
  readonly alpha?: number;
  readonly draws?: number;
}

/** An exponential random number of mean 1. */
export function exponential(random: Random): number {
  return -Math.log(1 - random.uniform());
}

/** A gamma random number of shape one half (half a squared normal number) or one. */
export function pseudoWeight(weight: PseudoWeight, random: Random): number {
  if (weight === 1) return exponential(random);
  return exponential(random) * Math.cos(2 * Math.PI * random.uniform()) ** 2;
}

/**
 * One draw of both bounds into `lower[slot]` and `upper[slot]`: the tasks weighted by `exponentials` from `offset` on, and the pseudo-task
 * at either end of [-1, 1] weighted by `pseudo`.
 */
export function drawBounds(
  differences: Float64Array,
  exponentials: Float64Array,
  offset: number,
  pseudo: number,
  lower: Float64Array,
  upper: Float64Array,
  slot: number,
): void {
  let weights = pseudo;
  let weighted = 0;
  for (let index = 0; index < differences.length; index += 1) {
    const weight = exponentials[offset + index] as number;
    weights += weight;
    weighted += weight * (differences[index] as number);
  }
  lower[slot] = (weighted - pseudo) / weights;
  upper[slot] = (weighted + pseudo) / weights;
}

/** The ranks (1 = smallest) of the lower and upper bound among `draws` draws: 250 and 9,750 of 9,999 at alpha 0.05. */
export function boundRanks(draws: number, alpha: number): readonly [number, number] {
  const rank = Math.round((alpha / 2) * (draws + 1));
  if (rank < 1) throw new RangeError(`Expected enough draws for alpha ${alpha}, got ${draws}`);
  return [rank, draws + 1 - rank];
}

/** True when the sorted values come after their own mirror image: one orientation of the data is drawn, the other mirrored. */
function isMirrored(sorted: Float64Array): boolean {
  for (let index = 0; index < sorted.length; index += 1) {
    const gap = (sorted[index] as number) + (sorted[sorted.length - 1 - index] as number);
    if (gap !== 0) return gap < 0;
  }
  return false;
}

/**
 * The E½ (or E1) interval for the mean of task differences in [-1, 1]: a Bayesian bootstrap over tasks with one pseudo-task at the end of
 * the scale. Never of zero width. The seed is the hash of the differences, so the order of the tasks does not matter and swapping the
 * conditions mirrors the interval.
 */
export function bayesianBounds(differences: Differences, options: BayesianBoundsOptions = {}): BayesianBounds {
  const { weight = 0.5, alpha = 0.05, draws = 9_999 } = options;
  const tasks = differences.units.length;
  if (tasks < 1) throw new RangeError("Expected at least 1 task, got none");
  const sorted = Float64Array.from(differences.units, (value) => value / differences.scale).sort();
  const mirrored = isMirrored(sorted);
  const values = mirrored ? sorted.map((value) => -value).reverse() : sorted;
  const seed = digestBytes(JSON.stringify([weight, alpha, draws, [...values]]));
  const random = seededRandom(seed);
  const row = new Float64Array(tasks);
  const lower = new Float64Array(draws);
  const upper = new Float64Array(draws);
  for (let draw = 0; draw < draws; draw += 1) {
    for (let index = 0; index < tasks; index += 1) row[index] = exponential(random);
    drawBounds(values, row, 0, pseudoWeight(weight, random), lower, upper, draw);
  }
  const [first, last] = boundRanks(draws, alpha);
  const low = selectRank(lower, first - 1);
  const high = selectRank(upper, last - 1);
  return mirrored ? { low: 0 - high, high: 0 - low, draws, seed } : { low, high, draws, seed };
}
