import type { ToolloopEnd } from "./config.ts";

/** Ends the loop for a reason that has an exit code of its own. */
export class LoopEnded extends Error {
  readonly reason: ToolloopEnd;

  constructor(reason: ToolloopEnd, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "LoopEnded";
    this.reason = reason;
  }
}
