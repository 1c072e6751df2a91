import { setTimeout as sleep } from "node:timers/promises";
import type { ByteSink } from "./byte-sink.ts";

/** How long output may stay silent after the command's end before it counts as held open by others; the engine itself waits 2 s. */
const QUIET_MS = 300;
const HELD_OPEN_MS = 2_500;

/** When a command last printed, and what became of it. */
export interface Activity {
  at: number;
  busy: boolean;
  failure: unknown;
}

/** Resolves when no output has come for a while, counted only while the sink is not holding it back. */
export async function quiet(activity: Activity, done: AbortSignal): Promise<void> {
  const since = performance.now();
  for (;;) {
    await sleep(50, undefined, { signal: done }).catch(() => undefined);
    if (done.aborted) return;
    const now = performance.now();
    if (activity.busy) continue;
    if (now - Math.max(activity.at, since) >= QUIET_MS || now - since >= HELD_OPEN_MS) return;
  }
}

/** A sink that notes what passes through it. */
export function watched(sink: ByteSink, activity: Activity): ByteSink {
  return async (bytes) => {
    activity.busy = true;
    try {
      await sink(bytes);
    } catch (thrown) {
      activity.failure = thrown;
      throw thrown;
    } finally {
      activity.busy = false;
      activity.at = performance.now();
    }
  };
}
