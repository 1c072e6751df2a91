import { describe, expect, test } from "vitest";
import type { TaskScores } from "../../../runner/stats/differences.ts";
import { differenceMoments, exactDifferences } from "../../../runner/stats/differences.ts";
import type { AnalysisMethod } from "../../../runner/stats/plan.ts";
import { minimumDetectable, toDecide } from "../../../runner/stats/power.ts";

function repeated(count: number, control: readonly number[], treatment: readonly number[]): TaskScores[] {
  return Array.from({ length: count }, (_, index) => ({
    task: `${control}-${treatment}-${index}`,
    control,
    treatment,
  }));
}

function plan(tasks: readonly TaskScores[], alpha = 0.05, method: AnalysisMethod = "ft15-and-sign-flip") {
  const moments = differenceMoments(exactDifferences(tasks));
  const rule = { alpha, method };
  return { detectable: minimumDetectable(moments, rule), ...toDecide(tasks, moments, rule) };
}

describe("What would decide", () => {
  test("needs fewer tasks for a larger difference of the same spread", () => {
    const clear = plan([...repeated(6, [0], [1]), ...repeated(3, [1], [0]), ...repeated(3, [0], [0])]);
    const faint = plan([...repeated(10, [0], [1]), ...repeated(9, [1], [0]), ...repeated(3, [0], [0])]);
    // The formula of docs/statistics.md ("Minimum detectable effect") evaluated with scipy.stats.t.ppf and norm.ppf, and the first number
    // of tasks at which it falls below the mean; SciPy 1.17.1.
    expect({ clear, faint }).toEqual({
      clear: {
        detectable: { difference: expect.closeTo(0.9154420961834713, 10), basis: "observed-spread" },
        tasks: 105,
        repetitions: {
          unknown: "unavailable",
          detail: "one repetition does not show how much of the spread repetitions would remove",
        },
      },
      faint: {
        detectable: { difference: expect.closeTo(0.6566241037113387, 10), basis: "observed-spread" },
        tasks: 3_475,
        repetitions: {
          unknown: "unavailable",
          detail: "one repetition does not show how much of the spread repetitions would remove",
        },
      },
    });
  });

  test("finds the first number of tasks, not just a large enough one", () => {
    // Spread 0, difference 0.5: FT15 asks 4 n m (1 + m) = 3 n > t^2, which 6 tasks pass; the sign-flip test needs those 6 too.
    expect(plan(repeated(4, [0.25], [0.75])).tasks).toBe(6);
    expect(plan(repeated(4, [0.25], [0.75]), 0.01).tasks).toBe(8);
  });

  test("cannot be more repetitions when whole tasks differ, and can when only trials do", () => {
    const between = plan([...repeated(7, [0, 0, 0], [1, 1, 1]), ...repeated(5, [1, 1, 1], [0, 0, 0])]);
    const within = plan([...repeated(6, [0, 1, 0], [1, 1, 0]), ...repeated(6, [0, 1, 0], [0, 1, 0])]);
    expect([between.repetitions, within.repetitions]).toEqual([
      {
        unknown: "unavailable",
        detail: "no number of repetitions: the tasks differ too much from each other, so more tasks are needed",
      },
      expect.any(Number),
    ]);
  });

  test("is unknown without a difference, beyond any plan, or with one task", () => {
    const zero = plan(repeated(12, [0, 1], [1, 0]));
    const hopeless = plan([...repeated(501, [0], [1]), ...repeated(500, [1], [0])]);
    const one = plan(repeated(1, [0, 0], [1, 1]));
    expect([zero.tasks, zero.repetitions, hopeless.tasks, one.tasks]).toEqual([
      { unknown: "unavailable", detail: "the observed difference is 0, so no number would decide" },
      { unknown: "unavailable", detail: "the observed difference is 0, so no number would decide" },
      { unknown: "unavailable", detail: "more than 100000 tasks at the observed difference" },
      { unknown: "unavailable", detail: "one task shows no spread between tasks" },
    ]);
  });

  test("cannot be repetitions for five tasks", () => {
    expect(plan(repeated(5, [0, 0], [1, 0])).repetitions).toEqual({
      unknown: "unavailable",
      detail: "repetitions cannot make up for fewer than 6 tasks",
    });
  });
});

describe("The minimum detectable effect", () => {
  test("is larger for the conservative rule where repetitions make the grid fine", () => {
    const tasks = [
      ...repeated(6, [0, 1, 0, 0], [1, 1, 0, 0]),
      ...repeated(4, [0, 1, 1, 0], [1, 0, 0, 0]),
      ...repeated(4, [1], [1]),
    ];
    // As above, with (shift, extra) = (1 / 2, 1 / 2) for E½; SciPy 1.17.1.
    expect([plan(tasks).detectable, plan(tasks, 0.05, "e-half-and-sign-flip").detectable]).toEqual([
      { difference: expect.closeTo(0.20363794566974497, 10), basis: "observed-spread" },
      { difference: expect.closeTo(0.2743189575694657, 10), basis: "observed-spread" },
    ]);
  });

  test("is what flips enough whole tasks when fewer than six differ", () => {
    const { detectable } = plan([...repeated(2, [0], [1]), ...repeated(28, [1], [1])]);
    // scipy.stats.binom.sf(5, 30, share) = 0.8 at this share (brentq); SciPy 1.17.1. FT15 asks for less, c^2 / (n + c^2) = 0.2189.
    expect(detectable).toEqual({ difference: expect.closeTo(0.25074758322703455, 10), basis: "whole-flips" });
  });

  test("does not exist when no possible effect would be decided", () => {
    expect(plan([...repeated(3, [0], [1]), ...repeated(3, [1], [0])]).detectable).toEqual({
      unknown: "unavailable",
      detail: "no possible effect would be decided at the observed spread",
    });
  });
});
