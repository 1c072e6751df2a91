import { setTimeout as sleep } from "node:timers/promises";
import { messageOf } from "../base/errors.ts";
import type { Container } from "../docker/container.ts";

/** A container's writable layer under watch. */
export interface StorageWatch {
  /** Resolves with the bytes that were seen beyond the limit; never when the limit held. */
  readonly over: Promise<number>;
  /** How often its size could not be had, and why the last time; null when it always could. */
  readonly missed: () => string | null;
}

const POLL_MS = 2_000;

/** Looks at the size of a container's writable layer until it passes the limit or the signal ends the watch. */
export function watchStorage(
  container: Pick<Container, "size">,
  limit: number,
  signal: AbortSignal,
  pollMillis = POLL_MS,
): StorageWatch {
  let looks = 0;
  let failed = 0;
  let last = "";
  const watch = async (): Promise<number> => {
    for (;;) {
      try {
        await sleep(pollMillis, undefined, { signal });
        looks += 1;
        const bytes = await container.size({ signal });
        if (bytes > limit) return bytes;
      } catch (thrown) {
        // The watch ends with the agent; a look that failed leaves the limit to the next one.
        if (signal.aborted) return new Promise(() => undefined);
        failed += 1;
        last = messageOf(thrown);
      }
    }
  };
  return {
    over: watch(),
    missed: () => (failed === 0 ? null : `the storage limit could not be checked ${failed} of ${looks} times: ${last}`),
  };
}
