import { expect, test } from "vitest";
import { combineSteps, missedGates } from "../../../runner/task/step-rewards.ts";

test("a gate is missed by a lower value and by a key that is not there", () => {
  expect(missedGates({ reward: 0.5, extra: 0, other: 1 }, { reward: 0.25, other: 1 })).toEqual([
    { key: "reward", minimum: 0.5, value: 0.25 },
    { key: "extra", minimum: 0, value: null },
  ]);
  expect(missedGates(null, {})).toEqual([]);
  expect(missedGates({ optional: Number.NEGATIVE_INFINITY }, {})).toEqual([]);
  expect(missedGates({ toString: 0 }, {})).toEqual([{ key: "toString", minimum: 0, value: null }]);
});

test("steps that were not reached count 0, so that an early end never raises the mean", () => {
  expect(combineSteps("mean", 4, [{ reward: 1 }, { reward: 0 }])).toEqual({ reward: 0.25 });
  expect(combineSteps("mean", 2, [{ reward: 1, a: 1 }, { reward: 1 }])).toEqual({ reward: 1, a: 0.5 });
});

test("final takes the last declared step, 0 when it was not reached", () => {
  expect(combineSteps("final", 2, [{ reward: 0 }, { reward: 1 }])).toEqual({ reward: 1 });
  expect(combineSteps("final", 3, [{ reward: 1 }, { reward: 1 }])).toEqual({ reward: 0 });
});

test("a single step's rewards are the trial's", () => {
  expect(combineSteps("mean", 1, [{ reward: 0.5, scope: 1 }])).toEqual({ reward: 0.5, scope: 1 });
});
