import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../runner/base/random.ts";
import { mcnemarExact } from "../../../runner/stats/mcnemar.ts";
import { signFlipTest, tasksNeeded } from "../../../runner/stats/sign-flip.ts";

const random = () => seededRandom("sign-flip");
const flip = (values: readonly number[], options = {}) => signFlipTest(Float64Array.from(values), random(), options);

/** The definition, by recursion over all sign patterns of all values, zeros included. */
function bruteForce(values: readonly number[]): number {
  const extreme = Math.abs(values.reduce((sum, value) => sum + value, 0));
  const count = (index: number, sum: number): number => {
    const value = values[index];
    if (value === undefined) return Math.abs(sum) >= extreme ? 1 : 0;
    return count(index + 1, sum + value) + count(index + 1, sum - value);
  };
  return count(0, 0) / 2 ** values.length;
}

describe("The sign-flip test", () => {
  test("agrees with SciPy's exhaustive permutation test", () => {
    // scipy.stats.permutation_test((d,), sum, permutation_type="samples", n_resamples=inf).pvalue; SciPy 1.17.1.
    expect([
      flip([3, -1, 2, 5, 0, 1, -2, 4]).p,
      flip([1, 1, 1, 1, 1, 1]).p,
      flip([10, -3, 7, 7, 2, -5, 1, 9, 4, -6, 8, 3]).p,
      flip([1, -1, 2, -2, 3]).p,
    ]).toEqual([0.171875, 0.03125, 0.08740234375, 0.6875]);
  });

  const values = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: -9, max: 9 })), { minLength: 1, maxLength: 11 });

  test("counts what brute force counts, by table and by enumeration", () => {
    fc.assert(
      fc.property(values, (data) => {
        const expected = bruteForce(data);
        expect(flip(data).p).toBeCloseTo(expected, 13);
        expect(flip(data, { maxSum: 0 }).p).toBeCloseTo(expected, 13);
      }),
      { numRuns: 400 },
    );
  });

  test("agrees between table and enumeration at 20 tasks of a fine grid", () => {
    const data = Array.from({ length: 20 }, (_, index) => ((index * 7919) % 2001) - 700);
    expect(flip(data, { maxSum: 0 }).p).toBeCloseTo(flip(data).p, 12);
  });

  test("is 1 when nothing differs, and says how small p could have been", () => {
    expect(flip([0, 0, 0])).toEqual({ p: 1, method: "exact", nonZero: 0, smallestP: 1 });
    expect(flip([0, 2, -2, 2, 2, 2, 2])).toEqual({ p: 0.21875, method: "exact", nonZero: 6, smallestP: 0.03125 });
  });

  test("draws sign patterns only when the grid is too fine and the tasks too many, reproducibly and close to the exact value", () => {
    const data = Array.from({ length: 30 }, (_, index) => ((index * 7919) % 2001) - 800);
    const drawn = flip(data, { maxSum: 0, draws: 50_000 });
    const exact = flip(data);
    expect(drawn).toEqual({ p: drawn.p, method: "monte-carlo", nonZero: 30, smallestP: 2 ** -29, draws: 50_000 });
    expect(flip(data, { maxSum: 0, draws: 50_000 })).toEqual(drawn);
    // Five standard errors.
    expect(Math.abs(drawn.p - exact.p)).toBeLessThan(5 * Math.sqrt((exact.p * (1 - exact.p)) / 50_000));
    expect(exact.method).toBe("exact");
  });

  test("counts the data themselves among the drawn patterns, so that p is never 0", () => {
    const data = Array.from({ length: 60 }, (_, index) => 1_000 + index);
    expect(flip(data, { maxSum: 0, draws: 99 }).p).toBe(0.01);
  });

  test("stays above 0 for thousands of tasks that all differ alike", () => {
    expect(flip(new Array(3_000).fill(1)).p).toBe(Number.MIN_VALUE);
  });

  test("refuses values that are not on a grid of whole numbers", () => {
    expect(() => flip([0.5, 1])).toThrow("Expected whole numbers on one grid, got 0.5");
  });

  test("needs 6 differing tasks for 5 %, 8 for 1 %", () => {
    expect([0.05, 0.01, 0.0625, 0.1].map(tasksNeeded)).toEqual([6, 8, 5, 5]);
  });
});

describe("McNemar's exact test", () => {
  test("agrees with SciPy and statsmodels, without overflow for thousands of pairs", () => {
    // scipy.stats.binomtest(b, b + c, 0.5).pvalue (1.17.1) = statsmodels mcnemar([[0, b], [c, 0]], exact=True).pvalue (0.15.0).
    const cases = [
      [12, 3, 0.03515625],
      [3, 12, 0.03515625],
      [40, 10, 2.3861331676755526e-5],
      [1500, 1400, 0.06598734966518463],
      [2000, 1000, 1.0090148627940651e-75],
      [10, 0, 0.001953125],
      [0, 0, 1],
      [7, 7, 1],
    ] as const;
    for (const [b, c, expected] of cases) expect(mcnemarExact(b, c) / expected).toBeCloseTo(1, 10);
    expect(mcnemarExact(5_000, 0)).toBe(Number.MIN_VALUE);
  });

  test("is the sign-flip test of one repetition a task", () => {
    const units = [...new Array<number>(12).fill(1), ...new Array<number>(3).fill(-1)];
    expect(flip(units).p).toBeCloseTo(mcnemarExact(12, 3), 14);
  });

  test("refuses what is not a count", () => {
    expect(() => mcnemarExact(-1, 3)).toThrow("Expected a count from 0, got -1");
    expect(() => mcnemarExact(1, 0.5)).toThrow("Expected a count from 0, got 0.5");
  });
});
