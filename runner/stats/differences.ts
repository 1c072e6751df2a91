/** The scores of one task, one number a repetition, under both conditions. */
export interface TaskScores {
  readonly task: string;
  readonly control: readonly number[];
  readonly treatment: readonly number[];
}

/**
 * Task differences as exact rationals: task i differs by `units[i] / scale`. `exact` is false when the least common multiple of the
 * repetition counts is so large that differences had to be rounded to 1e-9.
 */
export interface Differences {
  readonly units: Float64Array;
  readonly scale: number;
  readonly exact: boolean;
}

/** Scores are counted in steps of 1e-9, so that decimal scores such as 0.1 are exact. */
const STEPS = 1e9;

function gcd(a: bigint, b: bigint): bigint {
  let x = a < 0n ? -a : a;
  let y = b < 0n ? -b : b;
  while (y !== 0n) [x, y] = [y, x % y];
  return x;
}

function sumInSteps(scores: readonly number[], task: string, side: string): bigint {
  if (scores.length === 0)
    throw new RangeError(`Task ${task} has no ${side} score: leave it out, or count it as dropped`);
  let sum = 0n;
  for (const score of scores) {
    if (!Number.isFinite(score) || Math.abs(score) > 1e15) {
      throw new RangeError(`Task ${task} has the ${side} score ${score}: a score is a finite number`);
    }
    // Whole and fractional part apart, so that large counts (tokens, bytes) lose nothing.
    const whole = Math.trunc(score);
    sum += BigInt(whole) * BigInt(STEPS) + BigInt(Math.round((score - whole) * STEPS));
  }
  return sum;
}

/**
 * The difference of each task's mean score, treatment minus control, on one integer grid: exact with the least common multiple of all
 * repetition counts, then reduced by the greatest common divisor.
 * @throws RangeError when a task has no score on a side, or a score is not finite.
 */
export function exactDifferences(tasks: readonly TaskScores[]): Differences {
  let multiple = 1n;
  for (const { control, treatment } of tasks) {
    for (const count of [BigInt(control.length), BigInt(treatment.length)]) {
      if (count > 0n) multiple = (multiple / gcd(multiple, count)) * count;
    }
  }
  const exact = tasks.map(({ task, control, treatment }) => {
    const treated = sumInSteps(treatment, task, "treatment") * (multiple / BigInt(treatment.length));
    return treated - sumInSteps(control, task, "control") * (multiple / BigInt(control.length));
  });
  const scale = multiple * BigInt(STEPS);
  const common = exact.reduce(gcd, scale);
  const total = exact.reduce((sum, value) => sum + (value < 0n ? -value : value), 0n);
  const limit = BigInt(Number.MAX_SAFE_INTEGER);
  if (total / common <= limit && scale / common <= limit) {
    return {
      units: Float64Array.from(exact, (value) => Number(value / common)),
      scale: Number(scale / common),
      exact: true,
    };
  }
  const rounded = exact.map((value) => Math.round((Number(value) / Number(scale)) * STEPS));
  if (rounded.reduce((sum, value) => sum + Math.abs(value), 0) > Number.MAX_SAFE_INTEGER) {
    throw new RangeError("The differences are too large to be added exactly: give the scores in a larger unit");
  }
  return { units: Float64Array.from(rounded), scale: STEPS, exact: false };
}

function greatestCommonDivisor(a: number, b: number): number {
  let [x, y] = [a, b];
  while (y !== 0) [x, y] = [y, x % y];
  return x;
}

/** Mean, sum of squared deviations and the number of tasks outside the commonest difference. */
export interface DifferenceMoments {
  readonly count: number;
  readonly mean: number;
  /** Sum of squared deviations from the mean; 0 when below 1e-12. */
  readonly squares: number;
  /** Tasks that do not share the commonest difference. */
  readonly offModal: number;
  readonly nonZero: number;
  /** The step of the coarsest grid that holds all differences; 0 when all are 0. */
  readonly step: number;
}

/** Moments of differences `units[i] / scale`. The sum is exact, so a mean of 0 is 0. */
export function differenceMoments({ units, scale }: Pick<Differences, "units" | "scale">): DifferenceMoments {
  const count = units.length;
  let sum = 0;
  let nonZero = 0;
  let step = 0;
  for (let index = 0; index < count; index += 1) {
    const value = units[index] as number;
    sum += value;
    if (value === 0) continue;
    nonZero += 1;
    step = step === 1 ? 1 : greatestCommonDivisor(step, Math.abs(value));
  }
  const mean = count === 0 ? 0 : sum / count;
  let squares = 0;
  for (let index = 0; index < count; index += 1) {
    const deviation = (units[index] as number) - mean;
    squares += deviation * deviation;
  }
  squares /= scale * scale;
  return {
    count,
    mean: mean / scale,
    squares: squares < 1e-12 ? 0 : squares,
    offModal: offModal(units),
    nonZero,
    step: step / scale,
  };
}

function offModal(units: Float64Array): number {
  const sorted = units.slice().sort();
  let longest = 0;
  let run = 0;
  for (let index = 0; index < sorted.length; index += 1) {
    run = index > 0 && sorted[index] === sorted[index - 1] ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  return units.length - longest;
}
