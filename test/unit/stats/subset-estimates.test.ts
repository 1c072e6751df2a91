import fc from "fast-check";
import { expect, test } from "vitest";
import { passAtK, subsetAny, subsetAtLeast } from "../../../runner/stats/subset-estimates.ts";

/** All subsets of `size` items. */
function subsets<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) => subsets(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]));
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

test("at least t of a subset agrees with SciPy's hypergeometric distribution", () => {
  // scipy.stats.hypergeom.sf(t - 1, total, successes, draws); SciPy 1.17.1.
  expect(subsetAtLeast(8, 5, 4, 3)).toBeCloseTo(0.5, 12);
  expect(subsetAtLeast(8, 5, 8, 6)).toBe(0);
  expect(subsetAtLeast(20, 7, 5, 1)).toBeCloseTo(0.9169891640866873, 12);
  expect(subsetAtLeast(1000, 400, 300, 130)).toBeCloseTo(0.0906343441918099, 12);
  expect(subsetAtLeast(8, 8, 8, 8)).toBeCloseTo(1, 14);
  expect(subsetAtLeast(8, 0, 3, 0)).toBe(1);
});

test("subset estimates are the averages over all subsets", () => {
  const data = fc.array(fc.constantFrom(0, 0.25, 0.5, 1), { minLength: 1, maxLength: 7 });
  fc.assert(
    fc.property(data, fc.nat(), fc.nat(), (items, seed, level) => {
      const draws = 1 + (seed % items.length);
      const threshold = level % (draws + 1);
      const hits = items.map((item) => (item === 1 ? 1 : 0));
      const successes = hits.filter((hit) => hit === 1).length;
      const counts = subsets(hits, draws).map((subset) => subset.filter((hit) => hit === 1).length);
      expect(subsetAtLeast(items.length, successes, draws, threshold)).toBeCloseTo(
        average(counts.map((count) => (count >= threshold ? 1 : 0))),
        12,
      );
      expect(passAtK(items.length, successes, draws)).toBeCloseTo(
        average(counts.map((count) => Math.min(1, count))),
        12,
      );
      expect(subsetAny(items, draws)).toBeCloseTo(
        average(subsets(items, draws).map((subset) => 1 - subset.reduce<number>((none, p) => none * (1 - p), 1))),
        12,
      );
    }),
    { numRuns: 300 },
  );
});

test("pass@k does not overflow, and is exact at its ends", () => {
  expect(passAtK(10, 3, 1)).toBeCloseTo(0.3, 14);
  expect(passAtK(10, 3, 8)).toBe(1);
  expect(passAtK(10, 0, 5)).toBe(0);
  expect(passAtK(5_000, 1, 2_500)).toBeCloseTo(0.5, 10);
});

test("impossible counts are refused", () => {
  expect(() => passAtK(5, 6, 1)).toThrow("got 6 of 5, 1 drawn");
  expect(() => passAtK(5, 2, 6)).toThrow("got 2 of 5, 6 drawn");
  expect(() => subsetAtLeast(5, 2, 0, 1)).toThrow("got 2 of 5, 0 drawn");
  expect(() => subsetAny([0.5, 2], 1)).toThrow("Expected a probability, got 2");
});
