import type { FileSets } from "../task/file-sets.ts";
import type { Cause, Outcome, StepRecord, TrialRecord } from "./record.ts";
import type { TrialSpec } from "./spec.ts";
import type { Stopwatch } from "./stopwatch.ts";
import type { TrialWorld } from "./world.ts";

/** What the trial has found out so far; sealed whatever happens. */
export interface Draft {
  readonly steps: StepRecord[];
  readonly verified: Readonly<Record<string, number>>[];
  readonly observations: string[];
  gateway: TrialRecord["gateway"];
  trajectory: TrialRecord["trajectory"];
  /** The recorded conversation; null when none was recorded. */
  cassette: Buffer | null;
  failure: { readonly outcome: Exclude<Outcome, "scored">; readonly cause: Cause } | null;
}

/** Everything the phases of one trial share. */
export interface TrialContext {
  readonly world: TrialWorld;
  readonly spec: TrialSpec;
  readonly trialId: string;
  readonly sets: FileSets;
  readonly watch: Stopwatch;
  readonly draft: Draft;
  readonly signal: AbortSignal;
}
