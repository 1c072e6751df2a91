import { describe, expect, test } from "vitest";
import type { BayesianBoundsOptions } from "../../../runner/stats/bayesian-bounds.ts";
import { bayesianBounds, boundRanks } from "../../../runner/stats/bayesian-bounds.ts";

function bounds(units: readonly number[], scale = 1, options: BayesianBoundsOptions = {}) {
  return bayesianBounds({ units: Float64Array.from(units), scale, exact: true }, options);
}

describe("The Bayesian bootstrap with a pseudo-task", () => {
  test.each([
    // statsmodels proportion_confint(k, n, 0.05, "beta"), Clopper and Pearson; statsmodels 0.15.0.
    [0, 10, 0, 0.30849710781876083],
    [3, 10, 0.06673951117773447, 0.6524528500599973],
    [9, 12, 0.4281415381218108, 0.9451393554720073],
    [60, 130, 0.3737678116918818, 0.551100645050737],
  ])("with weight 1 is the Clopper-Pearson interval for yes/no data (%i of %i)", (k, n, low, high) => {
    // Yes and no at the two ends of the scale, [0, 1] stretched to [-1, 1].
    const units = Array.from({ length: n }, (_, index) => (index < k ? 1 : -1));
    const result = bounds(units, 1, { weight: 1, draws: 39_999 });
    expect(Math.abs((result.low + 1) / 2 - low)).toBeLessThan(0.008);
    expect(Math.abs((result.high + 1) / 2 - high)).toBeLessThan(0.008);
  });

  test("is never of zero width, and the lighter pseudo-task gives the shorter interval", () => {
    const half = bounds(new Array(12).fill(0));
    const one = bounds(new Array(12).fill(0), 1, { weight: 1 });
    expect(half.low).toBeLessThan(-0.1);
    expect(half.high).toBeGreaterThan(0.1);
    expect(one.high - one.low).toBeGreaterThan(half.high - half.low);
  });

  test("depends neither on the order of the tasks nor on which condition comes first", () => {
    const units = [3, -1, 2, 5, 0, 1, -2, 4];
    const result = bounds(units, 5);
    expect(bounds([...units].reverse(), 5)).toEqual(result);
    expect(
      bounds(
        units.map((unit) => 0 - unit),
        5,
      ),
    ).toEqual({ ...result, low: -result.high, high: -result.low });
    expect(result).toEqual({
      low: result.low,
      high: result.high,
      draws: 9_999,
      seed: expect.stringMatching(/^sha256:/),
    });
  });

  test("takes ranks 250 and 9,750 of 9,999 draws, 25 and 975 of 999", () => {
    expect([boundRanks(9_999, 0.05), boundRanks(999, 0.05)]).toEqual([
      [250, 9_750],
      [25, 975],
    ]);
    expect(() => boundRanks(9, 0.05)).toThrow("Expected enough draws for alpha 0.05, got 9");
    expect(() => bounds([])).toThrow("Expected at least 1 task, got none");
  });
});
