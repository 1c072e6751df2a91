import { expect, test } from "vitest";
import { differenceMoments, exactDifferences } from "../../../runner/stats/differences.ts";

test("differences with unequal repetitions are exact on one grid", () => {
  const differences = exactDifferences([
    { task: "a", control: [0, 1, 1], treatment: [1, 1, 1] },
    { task: "b", control: [0, 1], treatment: [0, 0] },
    { task: "c", control: [1, 0, 1, 0, 1], treatment: [1, 1, 0, 1, 0] },
  ]);
  // 1/3, -1/2 and 0 in sixths.
  expect(differences).toEqual({ units: Float64Array.of(2, -3, 0), scale: 6, exact: true });
});

test("decimal scores are counted exactly, so that 0.1 + 0.2 and 0.3 do not differ", () => {
  const differences = exactDifferences([
    { task: "a", control: [0.3, 0], treatment: [0.1, 0.2] },
    { task: "b", control: [0], treatment: [1] },
  ]);
  expect(differences).toEqual({ units: Float64Array.of(0, 1), scale: 1, exact: true });
});

test("equal tasks reached through different repetition counts share one difference", () => {
  const differences = exactDifferences([
    { task: "a", control: [0, 0, 0], treatment: [1, 0, 0] },
    { task: "b", control: [0, 0, 0, 0, 0, 0], treatment: [1, 0, 0, 1, 0, 0] },
    { task: "c", control: [0], treatment: [1] },
  ]);
  expect(differenceMoments(differences)).toEqual({
    count: 3,
    mean: 5 / 9,
    squares: expect.closeTo(8 / 27, 12),
    offModal: 1,
    nonZero: 3,
    step: expect.closeTo(1 / 3, 14),
  });
});

test("repetition counts without a small common multiple are rounded, and the result says so", () => {
  const counts = [89, 97, 101, 103, 107, 109, 113, 127];
  const differences = exactDifferences(
    counts.map((count, index) => ({
      task: String(index),
      control: [0],
      treatment: Array.from({ length: count }, (_, place) => (place === 0 ? 1 : 0)),
    })),
  );
  expect(differences).toEqual({
    units: Float64Array.from(counts, (count) => Math.round(1e9 / count)),
    scale: 1e9,
    exact: false,
  });
});

test("large amounts keep every unit", () => {
  const differences = exactDifferences([{ task: "a", control: [123_456_789_012], treatment: [123_456_789_013] }]);
  expect(differences).toEqual({ units: Float64Array.of(1), scale: 1, exact: true });
});

test("no task gives empty moments", () => {
  expect(differenceMoments(exactDifferences([]))).toEqual({
    count: 0,
    mean: 0,
    squares: 0,
    offModal: 0,
    nonZero: 0,
    step: 0,
  });
});

test("missing and unusable scores are refused with the task and the value", () => {
  expect(() => exactDifferences([{ task: "a", control: [], treatment: [1] }])).toThrow("Task a has no control score");
  expect(() => exactDifferences([{ task: "a", control: [0], treatment: [Number.NaN] }])).toThrow(
    "Task a has the treatment score NaN: a score is a finite number",
  );
  expect(() => exactDifferences([{ task: "a", control: [1e14 + 0.1], treatment: [1e14 * 9] }])).toThrow(
    "The differences are too large to be added exactly",
  );
});
