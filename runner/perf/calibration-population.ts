import type { Random } from "../base/random.ts";
import { seededRandom } from "../base/random.ts";
import type { PopulationSpec, Spread } from "./calibration-grid.ts";
import { populationName } from "./calibration-grid.ts";

/** Tasks by their probabilities of success. */
export interface Population {
  readonly control: Float64Array;
  readonly treatment: Float64Array;
}

function expit(x: number): number {
  return x >= 0 ? 1 / (1 + Math.exp(-x)) : Math.exp(x) / (1 + Math.exp(x));
}

function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.uniform())) * Math.cos(2 * Math.PI * random.uniform());
}

/** The logarithm of a gamma random number (Marsaglia and Tsang), which for small shapes would underflow itself. */
function logGamma(shape: number, random: Random): number {
  if (shape < 1) return logGamma(shape + 1, random) + Math.log(1 - random.uniform()) / shape;
  const d = shape - 1 / 3;
  const c = 1 / Math.sqrt(9 * d);
  for (;;) {
    const x = normal(random);
    const v = (1 + c * x) ** 3;
    if (v > 0 && Math.log(1 - random.uniform()) < 0.5 * x * x + d - d * v + d * Math.log(v)) return Math.log(d * v);
  }
}

/** The shift at which the mean of expit(logit + shift) is `target`: Newton's method inside a bracket. */
function shiftFor(logits: Float64Array, target: number): number {
  let low = -60;
  let high = 60;
  let shift = 0;
  for (let step = 0; step < 100; step += 1) {
    let sum = 0;
    let slope = 0;
    for (let row = 0; row < logits.length; row += 1) {
      const p = expit((logits[row] as number) + shift);
      sum += p;
      slope += p * (1 - p);
    }
    const miss = sum - target * logits.length;
    if (Math.abs(miss) < 1e-12 * logits.length) return shift;
    if (miss < 0) low = shift;
    else high = shift;
    const newton = shift - miss / slope;
    shift = newton > low && newton < high ? newton : (low + high) / 2;
  }
  return shift;
}

function controlLogits(spread: Spread, mean: number, size: number, random: Random): Float64Array {
  const logits = new Float64Array(size);
  if (spread.kind === "logit-normal") {
    for (let row = 0; row < size; row += 1) logits[row] = spread.deviation * normal(random);
    const shift = shiftFor(logits, mean);
    return logits.map((logit) => logit + shift);
  }
  if (spread.kind === "beta") {
    const { total } = spread;
    for (let row = 0; row < size; row += 1) {
      logits[row] = logGamma(mean * total, random) - logGamma((1 - mean) * total, random);
    }
    return logits;
  }
  throw new RangeError(`Expected a spread of probabilities, got ${spread.kind}`);
}

/**
 * Draws a population whose mean difference is the one asked for, to 1e-9. The same specification and seed give the same rows.
 */
export function drawPopulation(spec: PopulationSpec, seed: string, size: number): Population {
  const { spread, mean, delta, tau } = spec;
  if (spread.kind === "rare-gain" || spread.kind === "rare-loss") {
    const [rare, odd, usual] = spread.kind === "rare-gain" ? [0.1, 1, 0] : [0.05, 0, 1];
    const treatment = Float64Array.from({ length: size }, (_, row) => (row < rare * size ? odd : usual));
    return { control: new Float64Array(size).fill(mean), treatment };
  }
  const random = seededRandom(`${seed}/${populationName(spec)}`);
  const logits = controlLogits(spread, mean, size, random);
  const control = logits.map(expit);
  if (delta === 0 && tau === 0) return { control, treatment: control };
  const moved = logits.map((logit) => logit + tau * normal(random));
  const target = control.reduce((sum, p) => sum + p, 0) / size + delta;
  const shift = shiftFor(moved, target);
  return { control, treatment: moved.map((logit) => expit(logit + shift)) };
}
