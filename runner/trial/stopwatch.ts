import type { Clock } from "../base/clock.ts";

/** Adds up the microseconds of named phases; a phase that is entered twice adds to itself. */
export interface Stopwatch {
  readonly time: <T>(phase: string, work: () => Promise<T>) => Promise<T>;
  readonly elapsed: () => Record<string, number>;
}

/** Starts a stopwatch; `elapsed()` holds `total`, the time since now, beside the phases. */
export function startStopwatch(clock: Clock): Stopwatch {
  const origin = clock.micros();
  const phases = new Map<string, number>();
  return {
    time: async (phase, work) => {
      const from = clock.micros();
      try {
        return await work();
      } finally {
        phases.set(phase, (phases.get(phase) ?? 0) + clock.micros() - from);
      }
    },
    elapsed: () => ({ ...Object.fromEntries(phases), total: clock.micros() - origin }),
  };
}
