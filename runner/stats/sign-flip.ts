import type { Random } from "../base/random.ts";

/** The result of the sign-flip test on task differences. */
export interface SignFlip {
  /** Two-sided; data as extreme as those seen count as extreme. */
  readonly p: number;
  readonly method: "exact" | "monte-carlo";
  /** Tasks with a difference; the others carry no sign. */
  readonly nonZero: number;
  /** The smallest p that so many non-zero tasks can reach. */
  readonly smallestP: number;
  /** Random sign patterns drawn (Monte Carlo only). */
  readonly draws?: number;
}

export interface SignFlipOptions {
  /** Largest sum of absolute differences, in units of the grid, for dynamic programming. */
  readonly maxSum?: number;
  /** Largest number of non-zero tasks for full enumeration. */
  readonly maxEnumerated?: number;
  readonly draws?: number;
}

/** Work bound of the dynamic programming: non-zero tasks times the sum of absolute differences. */
const MAX_CELLS = 4e8;

/**
 * P(|sum of randomly signed values| >= |sum|), exactly: `values` are non-zero whole numbers, `total` the sum of their absolute values.
 * `table` needs `total + 1` places and is overwritten.
 */
export function signFlipByTable(values: Float64Array, sum: number, total: number, table: Float64Array): number {
  const extreme = Math.abs(sum);
  if (extreme === 0) return 1;
  // table[x] = probability that the positively signed values add up to x.
  table.fill(0, 0, total + 1);
  table[0] = 1;
  let reached = 0;
  for (let index = 0; index < values.length; index += 1) {
    const step = Math.abs(values[index] as number);
    for (let x = reached; x >= 0; x -= 1) {
      const half = 0.5 * (table[x] as number);
      table[x] = half;
      // Going down, the place above was halved before it receives this part.
      table[x + step] = (table[x + step] as number) + half;
    }
    reached += step;
  }
  let tail = 0;
  for (let x = total; 2 * x - total >= extreme; x -= 1) tail += table[x] as number;
  return Math.min(1, Math.max(2 * tail, Number.MIN_VALUE));
}

/** The same probability by walking all sign patterns in Gray code order. */
function signFlipByEnumeration(values: Float64Array, sum: number): number {
  const extreme = Math.abs(sum);
  const signs = new Int8Array(values.length).fill(1);
  // The last sign stays fixed: a pattern and its mirror image are equally extreme.
  const patterns = 2 ** (values.length - 1);
  let current = 0;
  for (const value of values) current += value;
  let count = 0;
  for (let pattern = 1; ; pattern += 1) {
    if (Math.abs(current) >= extreme) count += 1;
    if (pattern === patterns) break;
    const flipped = 31 - Math.clz32(pattern & -pattern);
    const sign = -(signs[flipped] as number);
    signs[flipped] = sign;
    current += 2 * sign * (values[flipped] as number);
  }
  return count / patterns;
}

function signFlipByDraws(values: Float64Array, sum: number, draws: number, random: Random): number {
  const extreme = Math.abs(sum);
  let count = 0;
  for (let draw = 0; draw < draws; draw += 1) {
    let current = 0;
    let bits = 0;
    for (let index = 0; index < values.length; index += 1) {
      if ((index & 31) === 0) bits = random.next();
      current += (bits & 1) === 0 ? (values[index] as number) : -(values[index] as number);
      bits >>>= 1;
    }
    if (Math.abs(current) >= extreme) count += 1;
  }
  return (1 + count) / (draws + 1);
}

/**
 * The exact paired test with the task as the unit: under the null hypothesis every sign pattern of the task differences is equally
 * likely. `units` are whole numbers on one grid. Exact by dynamic programming or, for few tasks on a fine grid, by enumeration; only when
 * both are too large are sign patterns drawn from `random`, whose seed then belongs in the record.
 */
export function signFlipTest(units: Float64Array, random: Random, options: SignFlipOptions = {}): SignFlip {
  const { maxSum = 1e6, maxEnumerated = 22, draws = 99_999 } = options;
  const values = units.filter((value) => value !== 0);
  const nonZero = values.length;
  const smallestP = nonZero === 0 ? 1 : Math.max(2 ** (1 - nonZero), Number.MIN_VALUE);
  if (nonZero === 0) return { p: 1, method: "exact", nonZero, smallestP };
  let sum = 0;
  let total = 0;
  for (const value of values) {
    if (!Number.isInteger(value)) throw new RangeError(`Expected whole numbers on one grid, got ${value}`);
    sum += value;
    total += Math.abs(value);
  }
  if (total <= maxSum && total * nonZero <= MAX_CELLS) {
    return { p: signFlipByTable(values, sum, total, new Float64Array(total + 1)), method: "exact", nonZero, smallestP };
  }
  if (nonZero <= maxEnumerated) return { p: signFlipByEnumeration(values, sum), method: "exact", nonZero, smallestP };
  return { p: signFlipByDraws(values, sum, draws, random), method: "monte-carlo", nonZero, smallestP, draws };
}

/** The fewest non-zero tasks with which a two-sided sign-flip test can reach `alpha`: 6 at 0.05. */
export function tasksNeeded(alpha: number): number {
  return Math.ceil(1 + Math.log2(1 / alpha) - 1e-12);
}
