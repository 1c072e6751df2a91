import { messageOf, RunnerError } from "../base/errors.ts";
import type { Cause, Outcome } from "./record.ts";

/** Ends a trial early with an outcome; caught where the trial is sealed and never seen outside. */
export class TrialFailure extends Error {
  readonly outcome: Exclude<Outcome, "scored">;
  readonly failure: Cause;

  constructor(outcome: Exclude<Outcome, "scored">, code: string, detail: string, cause?: unknown) {
    super(detail, cause === undefined ? undefined : { cause });
    this.name = "TrialFailure";
    this.outcome = outcome;
    this.failure = { code, detail };
  }
}

/** Errors that must stop the run rather than become a trial's outcome: evidence that cannot be written. */
export function stopsRun(thrown: unknown): boolean {
  return thrown instanceof RunnerError && thrown.code === "EVIDENCE_WRITE";
}

/** What an error inside a trial means for its outcome. */
export function classifyFailure(
  thrown: unknown,
  signal: AbortSignal,
): { readonly outcome: Exclude<Outcome, "scored">; readonly cause: Cause } {
  if (signal.aborted) {
    return { outcome: "interrupted", cause: { code: "INTERRUPTED", detail: messageOf(signal.reason) } };
  }
  if (thrown instanceof TrialFailure) return { outcome: thrown.outcome, cause: thrown.failure };
  const code = thrown instanceof RunnerError ? thrown.code : "ENGINE_FAILED";
  return { outcome: "infra_error", cause: { code, detail: messageOf(thrown) } };
}
