import { solveTail } from "./solve-tail.ts";

function requireDegrees(degrees: number): void {
  if (!Number.isSafeInteger(degrees) || degrees < 1) {
    throw new RangeError(`Expected a whole number of degrees of freedom from 1, got ${degrees}`);
  }
}

/** 1 / B(degrees / 2, 1 / 2), by recursion from the exact starts and by Stirling's series where that is long. */
function inverseBeta(degrees: number): number {
  if (degrees > 400) {
    const z = degrees / 2;
    const series =
      1 - 1 / (8 * z) + 1 / (128 * z ** 2) + 5 / (1024 * z ** 3) - 21 / (32768 * z ** 4) - 399 / (262144 * z ** 5);
    return Math.sqrt(z / Math.PI) * series;
  }
  let value = degrees % 2 === 1 ? 1 / Math.PI : 0.5;
  for (let reached = degrees % 2 === 1 ? 1 : 2; reached < degrees; reached += 2) value *= (reached + 1) / reached;
  return value;
}

/** The continued fraction of the incomplete beta integral (modified Lentz), without its front factor. */
function betaFraction(a: number, b: number, x: number): number {
  const tiny = 1e-300;
  const away = (value: number) => (Math.abs(value) < tiny ? tiny : value);
  let c = 1;
  let d = 1 / away(1 - ((a + b) * x) / (a + 1));
  let result = d;
  for (let m = 1; m <= 100_000; m += 1) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / away(1 + even * d);
    c = away(1 + even / c);
    result *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / away(1 + odd * d);
    c = away(1 + odd / c);
    const change = d * c;
    result *= change;
    if (Math.abs(change - 1) < 1e-16) break;
  }
  return result;
}

/** P(T > t) of Student's t with a whole number of degrees of freedom; relative error below 1e-12 also far out. */
export function studentTail(t: number, degrees: number): number {
  requireDegrees(degrees);
  if (t < 0) return 1 - studentTail(-t, degrees);
  if (t === 0) return 0.5;
  if (t === Number.POSITIVE_INFINITY) return 0;
  const a = degrees / 2;
  const square = t * t;
  const x = degrees / (degrees + square);
  const front = inverseBeta(degrees) * Math.exp(-a * Math.log1p(square / degrees)) * (t / Math.sqrt(degrees + square));
  if (x < (a + 1) / (a + 2.5)) return (front * betaFraction(a, 0.5, x)) / (2 * a);
  return 0.5 - front * betaFraction(0.5, a, square / (degrees + square));
}

/** P(T <= t) of Student's t. */
export function studentCdf(t: number, degrees: number): number {
  return studentTail(-t, degrees);
}

/** The quantile of `probability` (strictly between 0 and 1) of Student's t. */
export function studentQuantile(probability: number, degrees: number): number {
  requireDegrees(degrees);
  if (!(probability > 0 && probability < 1)) {
    throw new RangeError(`Expected a probability between 0 and 1, got ${probability}`);
  }
  if (probability === 0.5) return 0;
  const scale = inverseBeta(degrees) / Math.sqrt(degrees);
  const density = (t: number) => scale * Math.exp(-((degrees + 1) / 2) * Math.log1p((t * t) / degrees));
  const tail = (t: number) => studentTail(t, degrees);
  return probability < 0.5 ? -solveTail(tail, density, probability) : solveTail(tail, density, 1 - probability);
}
