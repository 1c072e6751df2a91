import type { Random } from "../base/random.ts";
import { seededRandom } from "../base/random.ts";
import { boundRanks, drawBounds, exponential, pseudoWeight } from "../stats/bayesian-bounds.ts";
import { differenceMoments } from "../stats/differences.ts";
import type { Interval } from "../stats/floored-t.ts";
import { excludesZero, flooredBounds, TOLERANCE } from "../stats/floored-t.ts";
import { selectRank } from "../stats/select.ts";
import { signFlipByTable, tasksNeeded } from "../stats/sign-flip.ts";
import { studentQuantile } from "../stats/student-t.ts";
import type { CellSpec } from "./calibration-grid.ts";
import { cellName } from "./calibration-grid.ts";
import type { Population } from "./calibration-population.ts";

const ALPHA = 0.05;
const LOSS = 0.2;
const DRAWS = 999;

/** What was counted for one rule. Widths are on the scale -1 to 1. */
export interface RuleCounts {
  readonly simulations: number;
  readonly covered: number;
  readonly rejected: number;
  /** Rejected with the sign opposite to the true difference (where there is one). */
  readonly wrongSign: number;
  readonly width: number;
}

export const RULES = ["ft15", "t", "sign-flip", "ft15-and-sign-flip", "e-half", "e-half-and-sign-flip"] as const;

/** FT15, the plain t interval, the sign-flip test and E½, alone and joined as in the plans. The sign-flip test has no interval. */
export type Rule = (typeof RULES)[number];

export interface CellResult {
  readonly cell: CellSpec;
  readonly rules: Readonly<Record<Rule, RuleCounts>>;
}

class Tally implements RuleCounts {
  simulations = 0;
  covered = 0;
  rejected = 0;
  wrongSign = 0;
  width = 0;

  add(interval: Interval | undefined, rejected: boolean, mean: number, delta: number): void {
    this.simulations += 1;
    if (interval !== undefined) {
      if (interval.low - TOLERANCE <= delta && delta <= interval.high + TOLERANCE) this.covered += 1;
      this.width += interval.high - interval.low;
    }
    if (!rejected) return;
    this.rejected += 1;
    if (mean * delta < 0) this.wrongSign += 1;
  }
}

function lcmUpTo(count: number): number {
  let multiple = 1;
  for (let factor = 2; factor <= count; factor += 1) {
    let [a, b] = [multiple, factor];
    while (b > 0) [a, b] = [b, a % b];
    multiple = (multiple / a) * factor;
  }
  return multiple;
}

/** Thresholds t such that a 32-bit number falls below t with the given probability. */
function thresholds(probabilities: Float64Array): Float64Array {
  return probabilities.map((probability) => probability * 2 ** 32 - 2 ** 31);
}

function successes(trials: number, threshold: number, random: Random): number {
  let count = 0;
  for (let trial = 0; trial < trials; trial += 1) if (random.next() < threshold) count += 1;
  return count;
}

function pairsOf({ pattern, repetitions }: CellSpec, random: Random): number {
  if (pattern === "equal") return repetitions;
  if (pattern === "mixed") return 1 + random.below(repetitions);
  return repetitions - successes(repetitions, LOSS * 2 ** 32 - 2 ** 31, random);
}

/** E½ as the product draws it, but from a pool of random numbers that all simulations of the cell share. */
function conservativeBounds(tasks: number, uses: number, random: Random): (differences: Float64Array) => Interval {
  const one = DRAWS * tasks;
  const pool = new Float64Array(Math.min(Math.max(2 ** 19, 4 * one), uses * one));
  for (let index = 0; index < pool.length; index += 1) pool[index] = exponential(random);
  const pseudo = Float64Array.from({ length: 2 ** 15 }, () => pseudoWeight(0.5, random));
  const lower = new Float64Array(DRAWS);
  const upper = new Float64Array(DRAWS);
  const [first, last] = boundRanks(DRAWS, ALPHA);
  return (differences) => {
    const start = random.below(pool.length - DRAWS * differences.length + 1);
    const shift = random.below(pseudo.length - DRAWS + 1);
    for (let draw = 0; draw < DRAWS; draw += 1) {
      const offset = start + draw * differences.length;
      drawBounds(differences, pool, offset, pseudo[shift + draw] as number, lower, upper, draw);
    }
    return { low: selectRank(lower, first - 1), high: selectRank(upper, last - 1) };
  };
}

/** How often a cell is simulated; `conservative` is for E½, which costs most. */
export interface CellEffort {
  readonly simulations: number;
  readonly conservative: number;
}

/**
 * Simulates one cell: tasks drawn afresh from the population each time, then trials, then every rule through the product's own
 * functions. Deterministic in `seed`.
 */
export function simulateCell(cell: CellSpec, population: Population, effort: CellEffort, seed: string): CellResult {
  const { tasks, repetitions } = cell;
  const { delta } = cell.population;
  const random = seededRandom(`${seed}/${cellName(cell)}`);
  const control = thresholds(population.control);
  const treatment = thresholds(population.treatment);
  const scale = cell.pattern === "equal" ? repetitions : lcmUpTo(repetitions);
  const units = new Float64Array(tasks);
  const table = new Float64Array(tasks * scale + 1);
  const quantiles = Array.from({ length: tasks }, (_, degrees) =>
    degrees === 0 ? Number.NaN : studentQuantile(1 - ALPHA / 2, degrees),
  );
  const conservative = effort.conservative > 0 ? conservativeBounds(tasks, effort.conservative, random) : undefined;
  const rules = Object.fromEntries(RULES.map((rule) => [rule, new Tally()])) as Record<Rule, Tally>;
  const needed = tasksNeeded(ALPHA);

  for (let simulation = 0; simulation < effort.simulations; simulation += 1) {
    let count = 0;
    for (let task = 0; task < tasks; task += 1) {
      const row = random.below(control.length);
      const pairs = pairsOf(cell, random);
      if (pairs === 0) continue;
      const gained = successes(pairs, treatment[row] as number, random);
      units[count] = (gained - successes(pairs, control[row] as number, random)) * (scale / pairs);
      count += 1;
    }
    const seen = units.subarray(0, count);
    // Without two tasks there is no interval: nothing is claimed, so nothing is missed.
    const nothing: Interval = { low: -1, high: 1 };
    const moments = differenceMoments({ units: seen, scale });
    const floored = count < 2 ? nothing : flooredBounds(moments, quantiles[count - 1] as number);
    const plain = count < 2 ? nothing : clip(plainFrom(moments, quantiles[count - 1] as number));
    const flipped = count >= needed && flips(seen, table) <= ALPHA;
    const outside = excludesZero(floored);
    rules.ft15.add(floored, outside, moments.mean, delta);
    rules.t.add(plain, excludesZero(plain), moments.mean, delta);
    rules["sign-flip"].add(undefined, flipped, moments.mean, delta);
    rules["ft15-and-sign-flip"].add(floored, outside && flipped, moments.mean, delta);
    if (conservative === undefined || simulation >= effort.conservative) continue;
    const bounds = count < 1 ? nothing : conservative(seen.map((value) => value / scale));
    rules["e-half"].add(bounds, excludesZero(bounds), moments.mean, delta);
    rules["e-half-and-sign-flip"].add(bounds, excludesZero(bounds) && flipped, moments.mean, delta);
  }
  const counts = RULES.map((rule) => [rule, { ...rules[rule] }]);
  return { cell, rules: Object.fromEntries(counts) as Record<Rule, RuleCounts> };
}

function plainFrom(
  { count, mean, squares }: { count: number; mean: number; squares: number },
  quantile: number,
): Interval {
  const half = quantile * Math.sqrt(squares / (count - 1) / count);
  return { low: mean - half, high: mean + half };
}

function clip({ low, high }: Interval): Interval {
  return { low: Math.max(-1, low), high: Math.min(1, high) };
}

function flips(units: Float64Array, table: Float64Array): number {
  const values = units.filter((value) => value !== 0);
  let sum = 0;
  let total = 0;
  for (const value of values) {
    sum += value;
    total += Math.abs(value);
  }
  return signFlipByTable(values, sum, total, table);
}
