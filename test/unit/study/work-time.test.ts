import { expect, test } from "vitest";
import type { Clock } from "../../../runner/base/clock.ts";
import { measureWork } from "../../../runner/study/work-time.ts";

function handClock(): { readonly clock: Clock; readonly advance: (seconds: number) => void } {
  let now = 0;
  return {
    clock: { micros: () => now, wall: () => "2026-01-01T00:00:00.000Z" },
    advance: (seconds) => {
      now += seconds * 1e6;
    },
  };
}

test("waiting before and between pieces of work is no part of its time", async () => {
  const { clock, advance } = handClock();
  const time = measureWork(clock);
  advance(100);
  await time.during(async () => advance(3));
  advance(50);
  await time.during(async () => advance(4));
  advance(10);
  expect(time.seconds()).toBe(7);
});

test("pieces that overlap count once, and a piece that fails counts too", async () => {
  const { clock, advance } = handClock();
  const time = measureWork(clock);
  const gates: (() => void)[] = [];
  const piece = (): Promise<void> => time.during(() => new Promise<void>((resolve) => gates.push(resolve)));
  const first = piece();
  advance(2);
  const second = piece();
  advance(2);
  gates[0]?.();
  await first;
  advance(2);
  gates[1]?.();
  await second;
  const failing = time.during(async () => {
    advance(5);
    throw new Error("broken");
  });
  await expect(failing).rejects.toThrow("broken");
  expect(time.seconds()).toBe(11);
});
