import { describe, expect, test } from "vitest";
import { seededRandom } from "../../../runner/base/random.ts";
import { unknown } from "../../../runner/base/unknown.ts";
import { holm } from "../../../runner/stats/holm.ts";
import { countUnknown, summariseKnown } from "../../../runner/stats/known-summary.ts";
import { sortedQuantile, summariseSamples } from "../../../runner/stats/quantiles.ts";
import { selectRank } from "../../../runner/stats/select.ts";

describe("Values that may be unknown", () => {
  test("are summarised over what is known, with the unknown ones counted by reason and the total unknown", () => {
    const values = [3, unknown("missing"), 5, unknown("truncated"), unknown("missing", "no usage event"), 0];
    expect(summariseKnown(values)).toEqual({
      count: 6,
      known: 3,
      unknownByReason: { missing: 2, truncated: 1 },
      mean: 8 / 3,
      min: 0,
      max: 5,
      total: { unknown: "missing", detail: "3 of 6 values are unknown" },
    });
  });

  test("have a total when all are known, and nothing at all when none is", () => {
    expect(summariseKnown([1, 2]).total).toBe(3);
    const none = { unknown: "missing", detail: "no value is known" };
    const total = { unknown: "missing", detail: "0 of 0 values are unknown" };
    expect(summariseKnown([])).toEqual({
      count: 0,
      known: 0,
      unknownByReason: {},
      mean: none,
      min: none,
      max: none,
      total,
    });
    expect(countUnknown([unknown("stale"), 1])).toEqual({ stale: 1 });
    expect(() => summariseKnown([Number.NaN])).toThrow("Expected a finite number or an unknown, got NaN");
  });
});

describe("Samples of a benchmark", () => {
  const samples = [5, 1, 9, 3, 7, 2, 8, 8, 100, 4];

  test("have the quantiles NumPy gives", () => {
    // numpy.quantile(samples, p) for p = 0, .25, .5, .95, .99, 1; NumPy 2.4.6.
    const sorted = [...samples].sort((a, b) => a - b);
    const found = [0, 0.25, 0.5, 0.95, 0.99, 1].map((p) => sortedQuantile(sorted, p));
    [1, 3.25, 6, 59.049999999999905, 91.81, 100].forEach((value, index) => {
      expect(found[index]).toBeCloseTo(value, 10);
    });
  });

  test("show tails only where there are enough samples", () => {
    expect(summariseSamples(samples)).toEqual({
      count: 10,
      min: 1,
      median: 6,
      mean: 14.7,
      p95: { unknown: "unavailable", detail: "p95 needs 20 samples, there are 10" },
      p99: { unknown: "unavailable", detail: "p99 needs 100 samples, there are 10" },
      max: 100,
    });
    expect(summariseSamples(Float64Array.from({ length: 101 }, (_, index) => 100 - index))).toEqual({
      count: 101,
      min: 0,
      median: 50,
      mean: 50,
      p95: 95,
      p99: 99,
      max: 100,
    });
  });

  test("are refused when there are none or one is not a number", () => {
    expect(() => summariseSamples([])).toThrow("Expected at least 1 sample, got none");
    expect(() => summariseSamples([1, Number.NaN])).toThrow("Expected finite samples, got NaN");
    expect(() => sortedQuantile([], 0.5)).toThrow("Expected at least 1 value, got none");
    expect(() => sortedQuantile([1], 1.5)).toThrow("Expected a probability, got 1.5");
  });
});

test("selection finds every rank that sorting finds, ties included", () => {
  const random = seededRandom("select");
  for (let round = 0; round < 50; round += 1) {
    const values = Float64Array.from({ length: 1 + random.below(40) }, () => random.below(12));
    const sorted = values.slice().sort();
    const found = Float64Array.from(sorted, (_, rank) => selectRank(values.slice(), rank));
    expect(found).toEqual(sorted);
  }
  expect(() => selectRank(Float64Array.of(1), 1)).toThrow("Expected a rank from 0 to 0, got 1");
});

describe("Holm's adjustment", () => {
  test("agrees with statsmodels", () => {
    // statsmodels multipletests([.01, .04, .03, .005, .5], method="holm")[1]; statsmodels 0.15.0.
    const expected = [0.04, 0.09, 0.09, 0.025, 0.5];
    holm([0.01, 0.04, 0.03, 0.005, 0.5]).forEach((value, index) => {
      expect(value).toBeCloseTo(expected[index] ?? Number.NaN, 14);
    });
  });

  test("counts metrics that could not be measured in the family", () => {
    expect(holm([0.01, unknown("missing")])).toEqual([0.02, { unknown: "missing" }]);
    expect(holm([])).toEqual([]);
    expect(() => holm([2])).toThrow("Expected p-values from 0 to 1, got 2");
  });
});
