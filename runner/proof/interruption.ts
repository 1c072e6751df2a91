import { RunnerError } from "../base/errors.ts";
import type { Abortable } from "./transport.ts";

export interface GraceOptions {
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  /** How long calls under way may still arrive, in milliseconds. */
  readonly graceMs: number;
}

/** Lets calls under way arrive for a while after an interruption (they are paid for), then cuts them off. */
export function graceAfterAbort(options: GraceOptions, transport: Abortable): Disposable {
  let timer: NodeJS.Timeout | undefined;
  const onAbort = (): void => {
    options.say(
      `Stopping: no further call starts; those under way have ${Math.round(options.graceMs / 1000)} s to arrive.`,
    );
    const reason = new RunnerError("interrupted", "INTERRUPTED", "the run was interrupted");
    timer = setTimeout(() => transport.abort(reason), options.graceMs);
  };
  if (options.signal.aborted) onAbort();
  else options.signal.addEventListener("abort", onAbort, { once: true });
  return {
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      options.signal.removeEventListener("abort", onAbort);
    },
  };
}

/** What an interrupted run says. */
export function interrupted(done: number, all: number): RunnerError {
  return new RunnerError(
    "interrupted",
    "INTERRUPTED",
    `interrupted with ${done} of ${all} records sealed; every completed call is kept`,
    { hint: "Run the same command with --resume: no completed call is made again." },
  );
}
