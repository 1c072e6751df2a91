import { solveTail } from "./solve-tail.ts";

function density(z: number): number {
  return Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
}

/** P(Z > z) of the standard normal distribution; relative error below 1e-13 also far out. */
export function normalTail(z: number): number {
  if (z < 0) return 1 - normalTail(-z);
  if (z < 2.5) {
    let term = z;
    let sum = z;
    for (let odd = 3; term > 1e-18 * sum; odd += 2) {
      term *= (z * z) / odd;
      sum += term;
    }
    return 0.5 - density(z) * sum;
  }
  // Mills ratio as Laplace's continued fraction, evaluated from the far end.
  let fraction = z;
  for (let level = 200; level >= 1; level -= 1) fraction = z + level / fraction;
  return density(z) / fraction;
}

/** P(Z <= z) of the standard normal distribution. */
export function normalCdf(z: number): number {
  return normalTail(-z);
}

/** The standard normal quantile of `probability`, which lies strictly between 0 and 1. */
export function normalQuantile(probability: number): number {
  if (!(probability > 0 && probability < 1)) {
    throw new RangeError(`Expected a probability between 0 and 1, got ${probability}`);
  }
  if (probability === 0.5) return 0;
  if (probability < 0.5) return -solveTail(normalTail, density, probability);
  return solveTail(normalTail, density, 1 - probability);
}
