import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

let collect: (() => void) | undefined;

/**
 * Gives back at once what is no longer used. The engine by itself lets the heap of a process with much memory grow to hundreds of
 * megabytes first; call it between phases that leave much behind, since a collection takes tens of milliseconds.
 */
export function collectGarbage(): void {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    collect = runInNewContext("gc") as () => void;
    setFlagsFromString("--no-expose-gc");
  }
  collect();
}
