import { expect, test } from "vitest";
import { seededRandom, shuffled } from "../../../runner/base/random.ts";

test("the same seed gives the same sequence, and neighbouring seeds unrelated ones", () => {
  const first = (seed: string | number) => {
    const random = seededRandom(seed);
    return Array.from({ length: 1_000 }, () => random.uniform());
  };
  expect(first(7)).toEqual(first(7));
  const [a, b] = [first(7), first(8)];
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  expect(a.some((value, index) => value === b[index])).toBe(false);
  // The correlation of unrelated sequences of 1,000 stays within four standard errors.
  const product = mean(a.map((value, index) => (value - 0.5) * ((b[index] ?? 0) - 0.5)));
  expect(Math.abs(product * 12)).toBeLessThan(4 / Math.sqrt(1_000));
  expect(Math.abs(mean(a) - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 12 / 1_000));
});

test("numbers below a size are spread evenly", () => {
  const random = seededRandom("below");
  const counts = [0, 0, 0, 0, 0];
  for (let draw = 0; draw < 10_000; draw += 1) {
    const value = random.below(5);
    counts[value] = (counts[value] ?? 0) + 1;
  }
  // Chi-squared with 4 degrees of freedom: 23.5 is exceeded with probability 0.0001.
  expect(counts.reduce((sum, count) => sum + (count - 2_000) ** 2 / 2_000, 0)).toBeLessThan(23.5);
});

test("shuffling keeps every item, leaves the input alone, and gives each order as often", () => {
  const items = [1, 2, 3] as const;
  const random = seededRandom("shuffle");
  const seen = new Map<string, number>();
  for (let draw = 0; draw < 6_000; draw += 1) {
    const order = shuffled(items, random);
    expect([...order].sort()).toEqual([1, 2, 3]);
    seen.set(order.join(), (seen.get(order.join()) ?? 0) + 1);
  }
  expect(seen.size).toBe(6);
  // Chi-squared with 5 degrees of freedom: 25.7 is exceeded with probability 0.0001.
  expect([...seen.values()].reduce((sum, count) => sum + (count - 1_000) ** 2 / 1_000, 0)).toBeLessThan(25.7);
  expect(items).toEqual([1, 2, 3]);
  expect(shuffled([], random)).toEqual([]);
});
