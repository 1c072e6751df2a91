import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { watchStorage } from "../../../runner/trial/watch-storage.ts";

/** A container whose sizes come one after the other; an error is thrown. */
function sizes(...values: (number | Error)[]) {
  return {
    size: async () => {
      const value = values.shift() ?? 0;
      if (value instanceof Error) throw value;
      return value;
    },
  };
}

test("the size beyond the limit is told, and looks that failed before it are counted with the last reason", async () => {
  const signal = new AbortController().signal;
  const watch = watchStorage(sizes(10, new Error("busy"), 20, new Error("still busy"), 101), 100, signal, 1);
  expect(await watch.over).toBe(101);
  expect(watch.missed()).toBe("the storage limit could not be checked 2 of 5 times: still busy");
});

test("a watch in which every look succeeded has nothing to say, and ends with the agent without an answer", async () => {
  const over = new AbortController();
  const watch = watchStorage(sizes(), 100, over.signal, 1);
  await delay(20);
  over.abort();
  expect(await Promise.race([watch.over, delay(20, "nothing")])).toBe("nothing");
  expect(watch.missed()).toBeNull();
});
