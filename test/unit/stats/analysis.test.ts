import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Known } from "../../../runner/base/unknown.ts";
import { isUnknown, unknown } from "../../../runner/base/unknown.ts";
import { analysePairs } from "../../../runner/stats/analysis.ts";
import { explainMethod, explainResult } from "../../../runner/stats/explain.ts";
import type { PlannedPair } from "../../../runner/stats/pairs.ts";
import { ANALYSIS_METHODS, type AnalysisPlan } from "../../../runner/stats/plan.ts";

const PLAN: AnalysisPlan = {
  method: "ft15-and-sign-flip",
  alpha: 0.05,
  missing: "drop-pair",
  minCoverage: 0.8,
  maxDropImbalance: 0.1,
};

const LOST = unknown("unavailable", "provider_error");

/** Pairs of one task from two lists of scores. */
function task(id: string, control: readonly Known<number>[], treatment: readonly Known<number>[]): PlannedPair[] {
  return control.map((score, index) => ({
    task: id,
    repetition: index + 1,
    control: score,
    treatment: treatment[index] ?? LOST,
  }));
}

/** `count` tasks with the same scores, ids t01, t02, ... from `first` on. */
function tasks(first: number, count: number, control: readonly number[], treatment: readonly number[]): PlannedPair[] {
  return Array.from({ length: count }, (_, index) =>
    task(`t${String(first + index).padStart(2, "0")}`, control, treatment),
  ).flat();
}

const ASSUMED = "Assumed: no rare, large opposite effects outside the sampled tasks.";

describe("The verdict", () => {
  test("is better when interval and exact test agree, with every figure of the comparison", () => {
    const pairs = [...tasks(1, 8, [0, 0], [1, 1]), ...tasks(9, 2, [0, 1], [1, 0]), ...tasks(11, 2, [1, 1], [1, 1])];
    const { tasks: rows, ...analysis } = analysePairs(pairs, PLAN);
    expect(analysis).toEqual({
      plan: PLAN,
      coverage: {
        plannedPairs: 24,
        completePairs: 24,
        coverage: 1,
        plannedTasks: 12,
        completeTasks: 12,
        droppedTasks: [],
        unscored: { control: 0, treatment: 0 },
        unscoredByReason: { control: {}, treatment: {} },
        dropImbalance: 0,
      },
      outcomes: {
        won: ["t01", "t02", "t03", "t04", "t05", "t06", "t07", "t08"],
        lost: [],
        "both-ways": ["t09", "t10"],
        tied: ["t11", "t12"],
        dropped: [],
      },
      control: 3 / 12,
      treatment: 11 / 12,
      difference: 8 / 12,
      interval: {
        method: "ft15",
        level: 0.95,
        low: expect.closeTo(0.3538, 4),
        high: expect.closeTo(0.9795, 4),
        p: expect.closeTo(0.00066, 5),
      },
      test: { p: 2 ** -7, method: "exact", nonZero: 8, smallestP: 2 ** -7 },
      tasksThatDiffer: 8,
      tasksNeeded: 6,
      worstCase: {
        difference: { low: 8 / 12, high: 8 / 12 },
        interval: { low: expect.closeTo(0.3538, 4), high: expect.closeTo(0.9795, 4) },
      },
      minimumDetectable: { difference: expect.closeTo(0.578355332668777, 10), basis: "observed-spread" },
      toDecide: { tasks: 12, repetitions: 2 },
      statements: [ASSUMED],
      verdict: "better",
      reasons: ["the 95 % interval (+35.4 to +98.0 points) excludes 0, and the exact sign-flip test gives p = 0.0078"],
    });
    expect(rows[8]).toEqual({
      task: "t09",
      plannedPairs: 2,
      completePairs: 2,
      control: 0.5,
      treatment: 0.5,
      difference: 0,
      pairsBetter: 1,
      pairsWorse: 1,
      outcome: "both-ways",
    });
  });

  test("is worse, never indecisive, when the treatment loses as clearly", () => {
    const { verdict, reasons } = analysePairs([...tasks(1, 8, [1, 1], [0, 0]), ...tasks(9, 4, [1, 1], [1, 1])], PLAN);
    expect({ verdict, reasons }).toEqual({
      verdict: "worse",
      reasons: ["the 95 % interval (-98.0 to -35.4 points) excludes 0, and the exact sign-flip test gives p = 0.0078"],
    });
  });

  test("is indecisive when only one of interval and test speaks, and says what would decide", () => {
    const pairs = [
      ...tasks(1, 6, [0, 0, 1], [1, 1, 1]),
      ...tasks(7, 2, [1, 1, 1], [0, 1, 1]),
      ...tasks(9, 4, [1, 0, 1], [0, 1, 1]),
    ];
    const analysis = analysePairs(pairs, PLAN);
    expect([analysis.verdict, analysis.reasons, explainResult(analysis)]).toMatchSnapshot();
  });

  test("needs E½ instead of FT15 in the conservative mode", () => {
    const pairs = [...tasks(1, 7, [0, 0, 0], [0, 0, 1]), ...tasks(8, 5, [0, 1, 1], [1, 1, 0])];
    const usual = analysePairs(pairs, PLAN);
    const conservative = analysePairs(pairs, { ...PLAN, method: "e-half-and-sign-flip" });
    expect(usual.verdict).toBe("better");
    expect(conservative.verdict).toBe("indecisive");
    expect(conservative.interval).toEqual({
      method: "e-half",
      level: 0.95,
      low: expect.closeTo(-0.03, 1),
      high: expect.closeTo(0.4, 1),
      draws: 9_999,
      seed: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
    });
    expect(conservative.statements).toEqual([]);
  });

  test("does not depend on the order of the pairs", () => {
    const pairs = [...tasks(1, 4, [0, 0.3], [1, 0.2]), ...tasks(5, 5, [0.1, 0], [0.7, 1])];
    fc.assert(
      fc.property(fc.shuffledSubarray(pairs, { minLength: pairs.length }), (shuffled) => {
        expect(analysePairs(shuffled, PLAN)).toEqual(analysePairs(pairs, PLAN));
      }),
      { numRuns: 30 },
    );
  });

  test("is given only where interval and test both allow it, whatever the data", () => {
    const score = fc.constantFrom(0, 0, 1, 1, 0.5);
    const data = fc.array(fc.tuple(fc.array(score, { minLength: 1, maxLength: 3 }), score), {
      minLength: 1,
      maxLength: 20,
    });
    fc.assert(
      fc.property(data, (list) => {
        const pairs = list.flatMap(([control, treatment], index) =>
          task(
            `t${index}`,
            control,
            control.map(() => treatment),
          ),
        );
        const { verdict, interval, test: flip, difference, reasons } = analysePairs(pairs, PLAN);
        expect(reasons.length).toBeGreaterThan(0);
        if (verdict === "indecisive") return;
        if (isUnknown(interval) || isUnknown(flip) || isUnknown(difference))
          throw new Error("decided on unknown figures");
        expect(flip.p).toBeLessThanOrEqual(0.05);
        expect(verdict === "better" ? interval.low : -interval.high).toBeGreaterThan(0);
        expect(verdict).toBe(difference > 0 ? "better" : "worse");
      }),
      { numRuns: 500 },
    );
  });
});

describe("Lost trials", () => {
  test("leave 6 of 10 pairs when 4 treatment trials are unscored: coverage 0.6, indecisive, worst-case bounds", () => {
    const pairs = Array.from({ length: 10 }, (_, index) =>
      task(`t${index}`, [index < 5 ? 0 : 1], [index < 6 ? 1 : LOST]),
    ).flat();
    const { coverage, verdict, reasons, worstCase, difference, statements } = analysePairs(pairs, PLAN);
    expect({ coverage, verdict, reasons, worstCase, difference, statements }).toEqual({
      coverage: {
        plannedPairs: 10,
        completePairs: 6,
        coverage: 0.6,
        plannedTasks: 10,
        completeTasks: 6,
        droppedTasks: ["t6", "t7", "t8", "t9"],
        unscored: { control: 0, treatment: 4 },
        unscoredByReason: { control: {}, treatment: { unavailable: 4 } },
        dropImbalance: 0.4,
      },
      verdict: "indecisive",
      reasons: [
        "6 of 10 planned pairs are complete (60 %); the plan asks for 80 %",
        "0 control and 4 treatment trials of 10 are unscored; the shares differ by 40 %, and the plan allows 10 %",
        "5 of 6 tasks differ; at least 6 are needed for a 5 % decision",
      ],
      // Control 5 of 10; treatment 6 of 10 or 10 of 10.
      worstCase: {
        difference: { low: 0.1, high: 0.5 },
        interval: { low: expect.closeTo(-0.6114, 4), high: expect.closeTo(0.877, 4) },
      },
      difference: 5 / 6,
      statements: [
        "5 of 6 tasks differ; at least 6 are needed for a 5 % decision, because tasks without a difference carry no sign.",
        "4 of 10 pairs were dropped. Had every unscored trial gone against, or in favour of, the treatment, the difference would be +10.0 or +50.0 points.",
        ASSUMED,
      ],
    });
  });

  test("have worst-case limits by the plan's method: those of the data with every lost trial gone one way, and then the other", () => {
    const lost = (fill: number | typeof LOST) =>
      Array.from({ length: 10 }, (_, index) => task(`t${index}`, [index < 5 ? 0 : 1], [index < 6 ? 1 : fill])).flat();
    for (const method of ANALYSIS_METHODS) {
      const plan = { ...PLAN, method };
      const [against, favour] = [0, 1].map((fill) => analysePairs(lost(fill), plan).interval);
      if (against === undefined || favour === undefined || isUnknown(against) || isUnknown(favour))
        throw new Error("ten tasks have an interval");
      expect(analysePairs(lost(LOST), plan).worstCase).toEqual({
        difference: { low: 0.1, high: 0.5 },
        interval: { low: against.low, high: favour.high },
      });
    }
  });

  test("block a verdict by lopsidedness alone, and by coverage alone", () => {
    const won = tasks(1, 18, [0], [1]);
    const lopsided = [...won, ...task("x1", [0], [LOST]), ...task("x2", [0], [LOST]), ...task("x3", [1], [LOST])];
    expect(analysePairs(lopsided, PLAN).reasons).toEqual([
      "0 control and 3 treatment trials of 21 are unscored; the shares differ by 14.3 %, and the plan allows 10 %",
    ]);
    const thin = [...won, ...["a", "b", "c", "d", "e"].flatMap((id) => task(id, [LOST], [LOST]))];
    expect(analysePairs(thin, PLAN).reasons).toEqual([
      "18 of 23 planned pairs are complete (78.3 %); the plan asks for 80 %",
    ]);
  });

  test("drop the pair, not the task, and never count as 0", () => {
    const [row] = analysePairs(task("a", [1, LOST, 0], [1, 1, LOST]), PLAN).tasks;
    expect(row).toEqual({
      task: "a",
      plannedPairs: 3,
      completePairs: 1,
      control: 1,
      treatment: 1,
      difference: 0,
      pairsBetter: 0,
      pairsWorse: 0,
      outcome: "tied",
    });
  });

  test("of every pair leave nothing to compare", () => {
    const analysis = analysePairs([...task("a", [LOST], [1]), ...task("b", [0], [LOST])], PLAN);
    expect([analysis, explainResult(analysis)]).toMatchSnapshot();
  });
});

describe("Degenerate data get an honest statement", () => {
  const statementsOf = (pairs: readonly PlannedPair[]) => {
    const { verdict, reasons, statements, test: flip, interval, minimumDetectable } = analysePairs(pairs, PLAN);
    return { verdict, reasons, statements, test: flip, interval, minimumDetectable };
  };

  test("with five tasks or fewer: no p, no verdict, however many repetitions", () => {
    expect(statementsOf(tasks(1, 5, new Array(20).fill(0), new Array(20).fill(1)))).toMatchSnapshot();
  });

  test("with one task of 100 repetitions: the task is the unit, so there is no interval and no verdict", () => {
    expect(statementsOf(tasks(1, 1, new Array(100).fill(0), new Array(100).fill(1)))).toMatchSnapshot();
  });

  test("with fewer than six differing tasks among many", () => {
    expect(statementsOf([...tasks(1, 5, [0], [1]), ...tasks(6, 45, [0], [0])])).toMatchSnapshot();
  });

  test("with no difference at all: an interval of real width and p = 1", () => {
    expect(statementsOf(tasks(1, 12, [0, 1], [0, 1]))).toMatchSnapshot();
  });

  test("at the ceiling", () => {
    expect(statementsOf([...tasks(1, 11, [1, 1], [1, 1]), ...tasks(12, 1, [0, 1], [1, 1])])).toMatchSnapshot();
  });

  test("when all tasks differ alike: never a zero-width interval", () => {
    expect(statementsOf(tasks(1, 12, [0.5], [0.6]))).toMatchSnapshot();
  });
});

test("one task that fails 10 of 10 shows in the table beside 49 that pass 10 of 10, whatever the mean says", () => {
  const pass = new Array<number>(10).fill(1);
  const fail = new Array<number>(10).fill(0);
  const analysis = analysePairs([...tasks(1, 49, pass, pass), ...task("zz", pass, fail)], PLAN);
  expect(analysis.treatment).toBe(0.98);
  expect(analysis.outcomes.lost).toEqual(["zz"]);
  expect(analysis.tasks.filter((row) => row.treatment !== 1)).toEqual([
    {
      task: "zz",
      plannedPairs: 10,
      completePairs: 10,
      control: 1,
      treatment: 0,
      difference: -1,
      pairsBetter: 0,
      pairsWorse: 10,
      outcome: "lost",
    },
  ]);
  expect(analysis.tasks).toHaveLength(50);
});

describe("What cannot be analysed is refused", () => {
  test.each([
    ["a pair given twice", [...task("a", [0], [1]), ...task("a", [0], [1])], "Task a, repetition 1 is there twice"],
    ["a score that is not a number", task("a", [Number.NaN], [1]), "Task a, repetition 1: the control score is NaN"],
    ["a score above 1", task("a", [0], [2]), "Task a has the score 2: scores lie in [0, 1]"],
    ["a negative score", task("a", [-0.5], [1]), "Task a has the score -0.5"],
  ])("%s", (_, pairs, message) => {
    expect(() => analysePairs(pairs, PLAN)).toThrow(message);
  });

  test("a plan out of range", () => {
    expect(() => analysePairs([], { ...PLAN, alpha: 5 })).toThrow("analysis.alpha is 5, not between 0 and 1");
    expect(() => analysePairs([], { ...PLAN, minCoverage: -1 })).toThrow("analysis.minCoverage is -1, not from 0 to 1");
  });

  test("but a plan without a pair is only indecisive", () => {
    const { verdict, difference, worstCase } = analysePairs([], PLAN);
    const none = { unknown: "missing", detail: "no pair is complete" };
    expect({ verdict, difference, worstCase }).toEqual({ verdict: "indecisive", difference: none, worstCase: none });
  });
});

test("the method is explained with the reason why it holds for few tasks", () => {
  expect([explainMethod(PLAN), explainMethod({ ...PLAN, method: "e-half-and-sign-flip" })]).toMatchSnapshot();
});
