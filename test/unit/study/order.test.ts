import fc from "fast-check";
import { expect, test } from "vitest";
import { orderTrials } from "../../../runner/study/order.ts";

test("the order comes from the seed alone", () => {
  expect(orderTrials(["b", "a"], 2, 7)).toEqual(orderTrials(["a", "b"], 2, 7));
  expect(orderTrials(["a", "b"], 1, 7)).toMatchInlineSnapshot(`
    [
      {
        "condition": "treatment",
        "number": 1,
        "pair": 1,
        "repetition": 1,
        "task": "b",
      },
      {
        "condition": "control",
        "number": 2,
        "pair": 1,
        "repetition": 1,
        "task": "b",
      },
      {
        "condition": "control",
        "number": 3,
        "pair": 2,
        "repetition": 1,
        "task": "a",
      },
      {
        "condition": "treatment",
        "number": 4,
        "pair": 2,
        "repetition": 1,
        "task": "a",
      },
    ]
  `);
});

test("every block holds each task once, every pair both conditions, and numbers follow the order", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1 }), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 4 }),
      fc.nat(),
      (tasks, repetitions, seed) => {
        const trials = orderTrials(tasks, repetitions, seed);
        expect(trials.map((trial) => trial.number)).toEqual(trials.map((_, index) => index + 1));
        for (let block = 0; block < repetitions; block += 1) {
          const inBlock = trials.slice(block * tasks.length * 2, (block + 1) * tasks.length * 2);
          expect(
            inBlock
              .filter((_, index) => index % 2 === 0)
              .map((trial) => trial.task)
              .sort(),
          ).toEqual([...tasks].sort());
          expect(inBlock.every((trial) => trial.repetition === block + 1)).toBe(true);
        }
        for (let at = 0; at < trials.length; at += 2) {
          const [first, second] = trials.slice(at, at + 2);
          expect([first?.pair, first?.task]).toEqual([second?.pair, second?.task]);
          expect([first?.condition, second?.condition].sort()).toEqual(["control", "treatment"]);
        }
      },
    ),
    { numRuns: 100 },
  );
});
