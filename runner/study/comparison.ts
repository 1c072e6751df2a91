import type { Digest } from "../base/digest.ts";
import type { Known } from "../base/unknown.ts";
import type { PairedAnalysis } from "../stats/analysis.ts";
import type { KnownSummary } from "../stats/known-summary.ts";
import type { Multiplicity, SecondaryResult } from "../stats/secondary.ts";
import type { Outcome } from "../trial/record.ts";
import type { Plan } from "./plan.ts";

/** Base unit of a metric's values. */
export type MetricUnit = "score" | "tokens" | "count" | "bytes" | "us" | "microUSD";

/** One side of a pair, rederived from its sealed record and trace. */
export interface ComparedTrial {
  /** The trial's number in the plan. */
  readonly number: number;
  readonly attempt: number;
  readonly outcome: Outcome;
  /** Code of the cause of an unscored trial. */
  readonly cause: string | null;
  readonly agentEnd: string | null;
  /** null unless the outcome is `scored`. */
  readonly reward: number | null;
  /** By metric name: every secondary metric, and for the treatment every server metric too. */
  readonly values: Readonly<Record<string, Known<number>>>;
}

/** A planned pair: one task and repetition under both conditions. */
export interface ComparedPair {
  /** 1-based place in the plan's order. */
  readonly pair: number;
  readonly task: string;
  readonly repetition: number;
  readonly control: ComparedTrial;
  readonly treatment: ComparedTrial;
  /** Why the pair is not in the primary result; null when it is. */
  readonly dropped: string | null;
}

/** Where the trials of one side ended: the model's failures apart from those of tasks, verifiers, providers and machines. */
export interface SideTally {
  readonly planned: number;
  readonly scored: number;
  /** Scored trials with reward 1, with a reward in between, and with reward 0: the model's success and failure. */
  readonly solved: number;
  readonly partial: number;
  readonly unsolved: number;
  /** Not the model's doing: outcomes `verifier_error` and `invalid_task`. */
  readonly taskOrVerifier: number;
  /** `invalid_condition`. */
  readonly condition: number;
  /** `provider_error`. */
  readonly provider: number;
  /** `infra_error` and `interrupted`. */
  readonly infrastructure: number;
  readonly outcomes: Readonly<Record<Outcome, number>>;
  /** Codes of the causes of unscored trials. */
  readonly causes: Readonly<Record<string, number>>;
  /** How agents ended, over all trials; `none` where no agent ran. */
  readonly agentEnds: Readonly<Record<string, number>>;
  /** Verdicts of the public submission contract; `unknown` counts what evidence does not support. */
  readonly submissions: Readonly<Record<string, number>>;
}

/** One of the two runs. */
export interface ComparedRun {
  readonly runId: string;
  readonly reportSha256: Digest;
  readonly order: "interleaved" | "separate";
  readonly startedAt: string;
  readonly finishedAt: string;
  /** Earlier attempts that a later one superseded; they are in no figure. */
  readonly superseded: number;
  /** Those of them that a verifier had graded. */
  readonly setAside: number;
  /** Attempts that were begun and never sealed. */
  readonly cutOff: number;
  readonly tally: SideTally;
  /** What was hashed to get here. */
  readonly evidence: { readonly trials: number; readonly objects: number; readonly bytes: number };
  /** Facts of the engine and machine as recorded. */
  readonly host: Readonly<Record<string, unknown>>;
}

/** A paired secondary metric; it never carries a verdict. */
export interface SecondaryLine extends SecondaryResult {
  readonly unit: MetricUnit;
  /** Words for people. */
  readonly label: string;
}

/** A metric of the treatment's server, which the control cannot have: described, not tested. */
export interface ServerLine extends KnownSummary {
  readonly name: string;
  readonly unit: MetricUnit;
  readonly label: string;
}

/** How scored treatment trials used the server that was there. */
export interface ServerUseCounts {
  readonly used: number;
  /** Calls were made and none was valid. */
  readonly attempted: number;
  /** Available and never called: still in the primary result, and no evidence about the server. */
  readonly available_unused: number;
  readonly unknown: number;
  /** Own tools beside the server, instead of it, or not at all. */
  readonly fallback: {
    readonly none: number;
    readonly instead: number;
    readonly beside: number;
    readonly unknown: number;
  };
}

/** What the compared runs share, as their common plan binds it. */
export interface ComparedStudy
  extends Pick<
    Plan,
    | "studyId"
    | "studyDigest"
    | "evidenceClass"
    | "subset"
    | "runner"
    | "platform"
    | "datasetDigest"
    | "agent"
    | "model"
    | "mcp"
    | "budgets"
    | "repetitions"
    | "seed"
  > {
  readonly plan: Digest;
  readonly tasks: readonly string[];
  readonly modelSource: "live" | "replayed" | "scripted" | "none";
}

/** A comparison of two runs whose evidence held: every number is derived from bytes that the two anchors bind. */
export interface ValidComparison {
  readonly schemaVersion: "1";
  readonly kind: "comparison";
  readonly valid: true;
  readonly verdict: "better" | "worse" | "indecisive";
  /** What led to the verdict. */
  readonly reasons: readonly string[];
  readonly causalClaimAuthorized: false;
  readonly evidenceClass: Plan["evidenceClass"];
  /** `separate`: the two conditions were executed apart, so the order inside pairs was not randomised. */
  readonly order: "interleaved" | "separate";
  readonly study: ComparedStudy;
  readonly control: ComparedRun;
  readonly treatment: ComparedRun;
  /** The plan's primary metric. */
  readonly primary: { readonly metric: "reward"; readonly analysis: PairedAnalysis };
  readonly secondary: {
    readonly alpha: number;
    readonly multiplicity: Multiplicity;
    readonly metrics: readonly SecondaryLine[];
  };
  readonly server: { readonly use: ServerUseCounts; readonly metrics: readonly ServerLine[] };
  /** In the order of the plan's pairs. */
  readonly pairs: readonly ComparedPair[];
  /** What may be said, whole sentences in reading order: never more than the evidence class allows. */
  readonly interpretation: readonly string[];
  /** How the figures were made. */
  readonly method: readonly string[];
}

/** A comparison that was refused; `reasons` lists everything that stands against it, each with its place. */
export interface RefusedComparison {
  readonly schemaVersion: "1";
  readonly kind: "comparison";
  readonly valid: false;
  readonly verdict: "invalid";
  readonly reasons: readonly string[];
  readonly causalClaimAuthorized: false;
  /** The anchors as given, well-formed or not; null when one was not given. */
  readonly anchors: { readonly control: string | null; readonly treatment: string | null };
}

/** What `runner compare` finds; its canonical JSON bytes are the comparison file. */
export type Comparison = ValidComparison | RefusedComparison;
