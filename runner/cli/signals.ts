import { constants } from "node:os";
import { RunnerError } from "../base/errors.ts";

type Signal = "SIGINT" | "SIGTERM" | "SIGHUP";
const SIGNALS: readonly Signal[] = ["SIGINT", "SIGTERM", "SIGHUP"];

/** The shell's exit code for a process that a signal ended. */
export function exitCodeOfSignal(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/**
 * The first signal aborts the work, which then removes what it made. A second one changes nothing (cleaning up is already under way); a
 * third ends the process at once and leaves the rest to the next start. Returns a function that tells the first signal.
 */
export function listenForSignals(controller: AbortController, say: (line: string) => void): () => Signal | undefined {
  let first: Signal | undefined;
  let count = 0;
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      count += 1;
      first ??= signal;
      if (count === 1) {
        say(`runner: ${signal}: stopping, and removing whatever this run has started`);
        controller.abort(new RunnerError("interrupted", "INTERRUPTED", `interrupted by ${signal}`));
      } else if (count === 2) {
        say(`runner: ${signal} again: still removing; a third one leaves the rest to the next start of the runner`);
      } else {
        process.exit(exitCodeOfSignal(first));
      }
    });
  }
  return () => first;
}
