import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../runner/base/random.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import {
  type ClusterIntervals,
  clusterIntervals,
  drawClusters,
  sumColumns,
} from "../../../runner/stats/cluster-bootstrap.ts";
import { sortedQuantile } from "../../../runner/stats/quantiles.ts";

const ratio = (sums: Float64Array) => {
  const [hits = Number.NaN, all = 0] = sums;
  return all === 0 ? Number.NaN : hits / all;
};

type Score = (sums: Float64Array) => number;

/** Intervals of a score of rows of totals, one row a cluster. */
function run(totals: readonly (readonly number[])[], score: Score = ratio, resamples = 10_000): ClusterIntervals {
  const draws = drawClusters(totals.length, seededRandom("clusters"), resamples);
  const width = totals[0]?.length ?? 2;
  const columns = Array.from({ length: width }, (_, column) => totals.map((row) => row[column] ?? Number.NaN));
  return clusterIntervals(draws, sumColumns(draws, columns), score);
}

describe("The cluster bootstrap", () => {
  test("agrees with SciPy's percentile and BCa intervals on skewed clusters", () => {
    const totals = Array.from({ length: 55 }, (_, index) => [index % 5 === 0 ? 40 : (index * index) % 17, 20]);
    const { value, percentile, bca, undefinedResamples } = run(totals, ratio, 100_000);
    // scipy.stats.bootstrap over the cluster indices, statistic = sum of the first column / sum of the second, n_resamples=400000,
    // method "percentile" and "BCa"; SciPy 1.17.1.
    expect(value).toBeCloseTo(0.7190909090909091, 14);
    expect(undefinedResamples).toBe(0);
    if (isUnknown(percentile) || isUnknown(bca)) throw new Error("no interval");
    for (const [value, reference] of [
      [percentile.low, 0.5445],
      [percentile.high, 0.9055],
      [bca.low, 0.5555],
      [bca.high, 0.92],
    ] as const) {
      expect(Math.abs(value - reference)).toBeLessThan(0.005);
    }
  });

  test("agrees with SciPy on a statistic whose bootstrap is biased", () => {
    const values = Array.from({ length: 25 }, (_, index) => ((index * index * 7) % 23) + (index % 6 === 0 ? 30 : 0));
    const variance = (sums: Float64Array) => {
      const [sum = 0, squares = 0, count = 0] = sums;
      return squares / count - (sum / count) ** 2;
    };
    const totals = values.map((value) => [value, value * value, 1]);
    const { value: estimate, percentile, bca } = run(totals, variance, 100_000);
    expect(estimate).toBeCloseTo(178.9344, 8);
    if (isUnknown(percentile) || isUnknown(bca)) throw new Error("no interval");
    // scipy.stats.bootstrap of the population variance, n_resamples=400000, methods "percentile" and "BCa"; SciPy 1.17.1.
    for (const [value, reference] of [
      [percentile.low, 67.958],
      [percentile.high, 278.98],
      [bca.low, 91.24],
      [bca.high, 311.9],
    ] as const) {
      expect(Math.abs(value - reference)).toBeLessThan(3);
    }
  });

  test("is the same for the same seed", () => {
    const totals = Array.from({ length: 60 }, (_, index) => [index % 4, 3 + ((index * 7) % 5)]);
    expect(run(totals)).toEqual(run(totals));
  });

  test("gives the percentiles of a resampling that is written out, whatever columns are summed beside", () => {
    const totals = Array.from({ length: 30 }, (_, index) => [index % 7, 3 + (index % 4), 0.1 * index]);
    const draws = drawClusters(30, seededRandom("seed"), 2000);
    const random = seededRandom("seed");
    const resamples = Array.from({ length: 2000 }, () =>
      Array.from({ length: 30 }, () => totals[random.below(30)] ?? []),
    );
    const total = (rows: readonly (readonly number[])[], column: number): number =>
      rows.reduce((sum, row) => sum + (row[column] ?? Number.NaN), 0);
    const columns = [0, 1, 2, 0, 1, 2].map((column) => totals.map((row) => row[column] ?? Number.NaN));
    const together = sumColumns(draws, columns);
    expect(together).toEqual(columns.flatMap((column) => sumColumns(draws, [column])));
    for (const column of [0, 1, 2]) {
      expect([...(together[column]?.resampled ?? [])]).toEqual(resamples.map((rows) => total(rows, column)));
    }
    const slow = resamples.map((rows) => total(rows, 0) / total(rows, 2)).sort((a, b) => a - b);
    const { value, percentile } = clusterIntervals(
      draws,
      together.slice(3).filter((_, index) => index !== 1),
      ratio,
    );
    expect({ value, percentile }).toEqual({
      value: total(totals, 0) / total(totals, 2),
      percentile: { low: sortedQuantile(slow, 0.025), high: sortedQuantile(slow, 0.975) },
    });
  });

  test("leaves undefined resamples out and counts them", () => {
    const totals = [[1, 1], ...Array.from({ length: 3 }, () => [0, 0]), [0, 1]];
    const { undefinedResamples, bca, percentile } = run(totals);
    // Both defined clusters are missed with probability (3/5)^5.
    expect(Math.abs(undefinedResamples - 10_000 * 0.6 ** 5)).toBeLessThan(5 * Math.sqrt(10_000 * 0.078 * 0.922));
    expect(percentile).toEqual({ low: 0, high: 1 });
    expect(isUnknown(bca)).toBe(false);
  });

  test("has no BCa interval where leaving out one cluster leaves nothing", () => {
    const balanced = (sums: Float64Array) => {
      const [hits = 0, positives = 0, misses = 0, negatives = 0] = sums;
      return positives === 0 || negatives === 0 ? Number.NaN : (hits / positives + misses / negatives) / 2;
    };
    const totals = [
      [1, 2, 0, 0],
      [2, 2, 0, 0],
      [0, 0, 1, 3],
    ];
    expect(run(totals, balanced).bca).toEqual({
      unknown: "unavailable",
      detail: "the score is undefined without one of the problems",
    });
  });

  test.each([
    ["no cluster", [], "the score is undefined for these data", false],
    [
      "a statistic without value",
      [
        [0, 0],
        [0, 0],
      ],
      "the score is undefined for these data",
      false,
    ],
    ["one cluster", [[1, 2]], "one problem shows no spread between problems", true],
    [
      "clusters that all agree",
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      "all resamples agree: no spread was seen, which is no proof that there is none",
      true,
    ],
  ])("gives no zero-width interval for %s", (_, totals, detail, estimated) => {
    const none = { unknown: "unavailable", detail };
    const { value, percentile, bca } = run(totals);
    expect({ value, percentile, bca }).toEqual({ value: estimated ? 0.5 : null, percentile: none, bca: none });
  });

  test("refuses ragged and unusable totals", () => {
    const draws = drawClusters(2, seededRandom("clusters"), 10);
    expect(() => sumColumns(draws, [[1, 2], [1]])).toThrow("Expected 2 totals in each column, got 1");
    expect(() => sumColumns(draws, [[1, Number.NaN]])).toThrow("Expected finite totals, got NaN");
  });
});
