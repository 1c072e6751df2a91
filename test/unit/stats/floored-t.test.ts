import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Differences } from "../../../runner/stats/differences.ts";
import { differenceMoments } from "../../../runner/stats/differences.ts";
import { excludesZero, flooredT, plainT } from "../../../runner/stats/floored-t.ts";

function ft15(units: readonly number[], scale: number) {
  return flooredT(differenceMoments({ units: Float64Array.from(units), scale }));
}

/** `n` tasks of which the first `k` differ by `units`. */
function some(n: number, k: number, units: number): number[] {
  return Array.from({ length: n }, (_, index) => (index < k ? units : 0));
}

/** An interval and p as printed by the reference table: three decimals. */
function printed({ low, high, p }: { low: number; high: number; p: number }): string {
  return `[${low.toFixed(3)}, ${high.toFixed(3)}] p=${p.toFixed(3)}`;
}

// Degenerate data: no task differs, one by 1, one by 0.2, all by 1. From an independent implementation of the closed form.
const DEGENERATE: readonly [number, string, string, string, string][] = [
  [5, "[-0.607, 0.607] p=1.000", "[-0.411, 0.755] p=0.374", "[-0.574, 0.637] p=0.413", "[0.393, 1.000] p=0.003"],
  [8, "[-0.411, 0.411] p=1.000", "[-0.223, 0.542] p=0.351", "[-0.381, 0.440] p=0.395", "[0.589, 1.000] p=0.000"],
  [12, "[-0.288, 0.288] p=1.000", "[-0.131, 0.394] p=0.339", "[-0.263, 0.311] p=0.386", "[0.712, 1.000] p=0.000"],
  [20, "[-0.180, 0.180] p=1.000", "[-0.067, 0.254] p=0.330", "[-0.163, 0.196] p=0.380", "[0.820, 1.000] p=0.000"],
  [50, "[-0.075, 0.075] p=1.000", "[-0.020, 0.108] p=0.322", "[-0.067, 0.082] p=0.375", "[0.925, 1.000] p=0.000"],
  [130, "[-0.029, 0.029] p=1.000", "[-0.008, 0.043] p=0.319", "[-0.026, 0.032] p=0.372", "[0.971, 1.000] p=0.000"],
];

describe("FT15", () => {
  test.each(DEGENERATE)(
    "gives the reference interval and p for degenerate data of %i tasks",
    (n, none, one, little, all) => {
      expect([
        printed(ft15(some(n, 0, 1), 1)),
        printed(ft15(some(n, 1, 1), 1)),
        printed(ft15(some(n, 1, 1), 5)),
        printed(ft15(some(n, n, 1), 1)),
      ]).toEqual([none, one, little, all]);
    },
  );

  test("is the plain t interval and test once 15 tasks lie outside the commonest difference", () => {
    const units = [7, -3, 12, 44, 16, 5, -9, 31, 2, 3, 4, 6, 8, 9, 10, -1, -2];
    const result = ft15(units, 100);
    // scipy.stats.ttest_1samp(numpy.array(units) / 100, 0), its pvalue and confidence_interval(0.95); SciPy 1.17.1.
    expect(result).toEqual({
      low: expect.closeTo(0.01811521293431216, 12),
      high: expect.closeTo(0.14894361059509958, 12),
      p: expect.closeTo(0.01554831225450162, 12),
      floored: false,
    });
  });

  const dataset: fc.Arbitrary<Differences> = fc.integer({ min: 1, max: 12 }).chain((scale) =>
    fc
      .array(fc.oneof(fc.constant(0), fc.integer({ min: -scale, max: scale }), fc.constant(scale)), {
        minLength: 2,
        maxLength: 40,
      })
      .map((units) => ({ units: Float64Array.from(units), scale, exact: true })),
  );

  test("has p <= alpha exactly when 0 lies outside the interval", () => {
    fc.assert(
      fc.property(dataset, fc.constantFrom(0.05, 0.01, 0.1), (differences, alpha) => {
        const result = flooredT(differenceMoments(differences), alpha);
        expect(result.p <= alpha).toBe(excludesZero(result));
      }),
      { numRuns: 5_000 },
    );
  });

  test("contains the mean, stays within [-1, 1], has no zero width, and mirrors when the conditions are swapped", () => {
    fc.assert(
      fc.property(dataset, (differences) => {
        const moments = differenceMoments(differences);
        const { low, high, p } = flooredT(moments);
        const swapped = flooredT(differenceMoments({ ...differences, units: differences.units.map((unit) => -unit) }));
        expect(low >= -1 && high <= 1 && low < high).toBe(true);
        expect(low <= moments.mean + 1e-12 && moments.mean <= high + 1e-12).toBe(true);
        expect(swapped.low).toBeCloseTo(-high, 12);
        expect(swapped.high).toBeCloseTo(-low, 12);
        expect(swapped.p).toBeCloseTo(p, 12);
      }),
      { numRuns: 2_000 },
    );
  });

  test("refuses one task and differences beyond the scale", () => {
    expect(() => ft15([1], 1)).toThrow("Expected at least 2 tasks, got 1");
    expect(() => ft15([3, 4], 1)).toThrow("Expected differences of scores in [0, 1]");
  });
});

test("the plain t interval agrees with SciPy", () => {
  const moments = differenceMoments({ units: Float64Array.of(7, -3, 120, 44, 16, 5, -9, 71), scale: 1 });
  // scipy.stats.ttest_1samp([7, -3, 120, 44, 16, 5, -9, 71], 0).confidence_interval(0.95); SciPy 1.17.1.
  expect(plainT(moments)).toEqual({
    low: expect.closeTo(-5.908527110727, 10),
    high: expect.closeTo(68.658527110727, 10),
  });
});
