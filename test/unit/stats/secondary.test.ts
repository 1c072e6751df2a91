import { describe, expect, test } from "vitest";
import { unknown } from "../../../runner/base/unknown.ts";
import { analysePairs, type PrimaryInterval } from "../../../runner/stats/analysis.ts";
import type { PlannedPair } from "../../../runner/stats/pairs.ts";
import { analyseSecondary } from "../../../runner/stats/secondary.ts";

const CONTROL = [120_400, 98_000, 45_211, 300_120, 12_000, 77_777, 65_000, 81_500];
const TREATMENT = [90_100, 99_500, 40_000, 210_000, 11_000, 60_000, 64_200, 70_000];

const FT15 = { method: "ft15-and-sign-flip", alpha: 0.05 } as const;
const E_HALF = { method: "e-half-and-sign-flip", alpha: 0.05 } as const;

function pairs(control: readonly number[], treatment: readonly number[]): PlannedPair[] {
  return control.map((value, index) => ({
    task: `t${index}`,
    repetition: 1,
    control: value,
    treatment: treatment[index] ?? unknown("missing", "no usage event"),
  }));
}

describe("Secondary metrics", () => {
  test("have their coverage, interval, exact test and adjusted p, unknown values counted", () => {
    const [tokens, scope, none] = analyseSecondary(
      [
        { name: "tokens", scale: "amount", pairs: pairs(CONTROL, TREATMENT) },
        { name: "scope", scale: "score", pairs: pairs([0, 0, 1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 1, 1]) },
        { name: "cost", scale: "amount", pairs: pairs([1, 2], []) },
      ],
      FT15,
    );
    // scipy.stats.ttest_rel(TREATMENT, CONTROL).confidence_interval(0.95) and
    // scipy.stats.permutation_test((d,), sum, permutation_type="samples", n_resamples=inf).pvalue; SciPy 1.17.1.
    expect(tokens).toEqual({
      name: "tokens",
      coverage: expect.objectContaining({ plannedPairs: 8, completePairs: 8, coverage: 1 }),
      control: expect.closeTo(100_001, 6),
      treatment: expect.closeTo(80_600, 6),
      difference: expect.closeTo(-19_401, 6),
      interval: {
        method: "paired-t",
        low: expect.closeTo(-44891.962482088, 5),
        high: expect.closeTo(6089.962482088002, 5),
      },
      test: { p: 0.03125, method: "exact", nonZero: 8, smallestP: 2 ** -7 },
      adjustedP: 0.03125 * 3,
    });
    expect(scope).toEqual({
      name: "scope",
      coverage: expect.objectContaining({
        plannedPairs: 8,
        completePairs: 7,
        unscored: { control: 0, treatment: 1 },
        unscoredByReason: { control: {}, treatment: { missing: 1 } },
      }),
      control: expect.closeTo(3 / 7, 14),
      treatment: expect.closeTo(6 / 7, 14),
      difference: 3 / 7,
      interval: { method: "ft15", low: expect.closeTo(-0.066, 2), high: expect.closeTo(0.923, 2) },
      test: { p: 0.25, method: "exact", nonZero: 3, smallestP: 0.25 },
      adjustedP: 0.5,
    });
    const nothing = { unknown: "missing", detail: "no pair is complete" };
    expect(none).toEqual({
      name: "cost",
      coverage: expect.objectContaining({ plannedPairs: 2, completePairs: 0 }),
      control: nothing,
      treatment: nothing,
      difference: nothing,
      interval: nothing,
      test: nothing,
      adjustedP: nothing,
    });
  });

  test("have the interval of the plan's method where they are scores, the same that a primary result of them has", () => {
    const scores = pairs([0, 0, 1, 1, 0, 0, 1, 0], [1, 1, 1, 1, 0, 1, 1]);
    for (const [plan, method] of [
      [FT15, "ft15"],
      [E_HALF, "e-half"],
    ] as const) {
      const [scope, tokens] = analyseSecondary(
        [
          { name: "scope", scale: "score", pairs: scores },
          { name: "tokens", scale: "amount", pairs: pairs(CONTROL, TREATMENT) },
        ],
        plan,
      );
      const { interval } = analysePairs(scores, {
        ...{ ...plan, missing: "drop-pair", minCoverage: 0, maxDropImbalance: 1 },
      });
      const { level: _, p: __, ...limits } = interval as PrimaryInterval;
      expect(scope?.interval).toEqual({ ...limits, method });
      expect(tokens?.interval).toMatchObject({ method: "paired-t" });
    }
  });

  test("keep their p-values where the plan adjusts nothing", () => {
    const [tokens] = analyseSecondary(
      [{ name: "tokens", scale: "amount", pairs: pairs(CONTROL, TREATMENT) }],
      FT15,
      "none",
    );
    expect(tokens?.adjustedP).toBe(0.03125);
  });

  test("have no interval without spread, and none for one task", () => {
    const [same, one] = analyseSecondary(
      [
        { name: "same", scale: "amount", pairs: pairs([10, 20, 30, 40, 50, 60], [15, 25, 35, 45, 55, 65]) },
        { name: "one", scale: "score", pairs: pairs([0], [1]) },
      ],
      FT15,
    );
    expect([same?.interval, same?.test, one?.interval]).toEqual([
      { unknown: "unavailable", detail: "all tasks differ alike, so their spread shows no uncertainty" },
      { p: 0.03125, method: "exact", nonZero: 6, smallestP: 0.03125 },
      { unknown: "unavailable", detail: "one task shows no spread between tasks" },
    ]);
  });
});
