import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../runner/base/random.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import type { ClusterData } from "../../../runner/stats/cluster-bootstrap.ts";
import { clusterBootstrap } from "../../../runner/stats/cluster-bootstrap.ts";

const ratio = (sums: Float64Array) => {
  const [hits = Number.NaN, all = 0] = sums;
  return all === 0 ? Number.NaN : hits / all;
};

function run(totals: ClusterData["totals"], statistic: ClusterData["statistic"] = ratio, resamples = 10_000) {
  return clusterBootstrap({ totals, statistic }, seededRandom("clusters"), { resamples });
}

describe("The cluster bootstrap", () => {
  test("agrees with SciPy's percentile and BCa intervals on skewed clusters", () => {
    const totals = Array.from({ length: 55 }, (_, index) => [index % 5 === 0 ? 40 : (index * index) % 17, 20]);
    const { estimate, percentile, bca, clusters, resamples, undefinedResamples, caution } = run(totals, ratio, 100_000);
    // scipy.stats.bootstrap over the cluster indices, statistic = sum of the first column / sum of the second, n_resamples=400000,
    // method "percentile" and "BCa"; SciPy 1.17.1.
    expect({ estimate, clusters, resamples, undefinedResamples, caution }).toEqual({
      estimate: expect.closeTo(0.7190909090909091, 14),
      clusters: 55,
      resamples: 100_000,
      undefinedResamples: 0,
      caution: undefined,
    });
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
    const { estimate, percentile, bca } = run(totals, variance, 100_000);
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

  test("warns about few clusters", () => {
    const result = run([
      [1, 2],
      [0, 2],
      [2, 2],
    ]);
    expect(result.caution).toBe(
      "Only 3 clusters: bootstrap intervals are too short below about 50 clusters, so read them as a lower limit of the uncertainty.",
    );
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
      detail: "the statistic is undefined without one of the clusters",
    });
  });

  test.each([
    ["no cluster", [], "the statistic is undefined for these data", false],
    [
      "a statistic without value",
      [
        [0, 0],
        [0, 0],
      ],
      "the statistic is undefined for these data",
      false,
    ],
    ["one cluster", [[1, 2]], "one cluster shows no spread between clusters", true],
    [
      "clusters that all agree",
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      "all resamples agree: the clusters show no spread, which is not a proof that there is none",
      true,
    ],
  ])("gives no zero-width interval for %s", (_, totals, detail, estimated) => {
    const none = { unknown: "unavailable", detail };
    const { estimate, percentile, bca } = run(totals);
    expect({ estimate, percentile, bca }).toEqual({ estimate: estimated ? 0.5 : none, percentile: none, bca: none });
  });

  test("refuses ragged and unusable totals", () => {
    expect(() => run([[1, 2], [1]])).toThrow("Expected 2 totals in each cluster, got 1");
    expect(() => run([[1, Number.NaN]])).toThrow("Expected finite totals, got NaN");
  });
});
