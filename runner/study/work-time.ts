import type { Clock } from "../base/clock.ts";

/** Adds up the time in which at least one of several pieces of work was under way. */
export interface WorkTime {
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
  readonly seconds: () => number;
}

/**
 * Measures work that waits for its turn between its pieces: overlapping pieces count once, waiting counts nothing.
 * `seconds()` holds what has ended.
 */
export function measureWork(clock: Clock): WorkTime {
  let underWay = 0;
  let from = 0;
  let micros = 0;
  return {
    during: async (work) => {
      if (underWay === 0) from = clock.micros();
      underWay += 1;
      try {
        return await work();
      } finally {
        underWay -= 1;
        if (underWay === 0) micros += clock.micros() - from;
      }
    },
    seconds: () => micros / 1e6,
  };
}
