import type { Known } from "../base/unknown.ts";
import type { FigureName } from "./figures.ts";

export type Side = "control" | "treatment";

/** Everything a report shows, as plain data: whoever fills it derives it from evidence, and the renderers only lay it out. */
export interface ReportModel {
  readonly schemaVersion: "1";
  readonly kind: "report";
  /** `run`: one condition; `pair`: both, with their comparison; `comparison`: a comparison file without its bundles. */
  readonly subject: "run" | "pair" | "comparison";
  readonly study: StudyFacts;
  /** The documents the report was made from, with what they were held against. */
  readonly sources: readonly Source[];
  /** What a reader must know before any figure. */
  readonly cautions: readonly string[];
  /** How figures are counted: missing scores, unknown values, repetitions. */
  readonly rules: readonly string[];
  readonly sides: readonly SideFacts[];
  readonly tasks: readonly TaskLine[];
  readonly trials: readonly TrialLine[];
  /** Every attempt of the trials that had more than one, in order. Only the last of a trial is in the figures. */
  readonly attempts: readonly AttemptLine[];
  /** The paired result; null for a single run. */
  readonly paired: Paired | null;
  readonly timelines: readonly Timeline[];
  /** Trials whose timeline was left out, and why. */
  readonly timelinesLeftOut: string | null;
  readonly reviews: readonly Review[];
}

export interface StudyFacts {
  readonly studyId: string;
  readonly evidenceClass: string;
  readonly causalClaimAuthorized: false;
  /** Part of the study's tasks, or other repetitions than it says. */
  readonly subset: boolean;
  readonly order: "interleaved" | "separate";
  /** `scripted` and `replayed` outcomes are no model's achievement. */
  readonly modelSource: ModelSource;
  /** Words for people: agent, model, server, budgets and seed as the plan binds them. */
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly repetitions: number;
}

export type ModelSource = "live" | "replayed" | "scripted" | "none";

export interface Source {
  readonly name: string;
  /** sha256 of the exact bytes of the document. */
  readonly sha256: string;
  /** The operator gave this digest from outside of the bundle. */
  readonly heldAgainstAnchor: boolean;
  /** What was recomputed. */
  readonly checked: string;
}

export interface SideFacts {
  readonly side: Side;
  readonly runId: string;
  readonly order: "interleaved" | "separate";
  /** Wall-clock labels as recorded. */
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly planned: number;
  readonly scored: number;
  /** Earlier attempts that were sealed and are in no figure. */
  readonly superseded: number;
  /** Attempts that were begun and never sealed. */
  readonly cutOff: number;
  /** Trials by outcome, every outcome named, zeros included. */
  readonly outcomes: Readonly<Record<string, number>>;
}

/** One side of a task: its mean never takes an unscored trial for 0. */
export interface TaskSide {
  readonly planned: number;
  readonly scored: number;
  /** Scored with reward 1. */
  readonly solved: number;
  readonly mean: Known<number>;
  /** The mean if every unscored trial had reward 0, and if every one had 1. */
  readonly low: number;
  readonly high: number;
  /** Unscored trials by outcome. */
  readonly unscored: Readonly<Record<string, number>>;
}

export interface TaskLine {
  readonly task: string;
  /** null: the report is about the other side alone. */
  readonly control: TaskSide | null;
  readonly treatment: TaskSide | null;
  /** Over complete pairs; null for a single run. */
  readonly paired: {
    readonly planned: number;
    readonly complete: number;
    readonly control: Known<number>;
    readonly treatment: Known<number>;
    readonly difference: Known<number>;
    readonly outcome: "won" | "lost" | "both-ways" | "tied" | "dropped";
  } | null;
}

export interface TrialLine {
  readonly number: number;
  readonly attempt: number;
  readonly task: string;
  readonly side: Side;
  readonly repetition: number;
  readonly outcome: string;
  /** Code and sentence of the cause of an unscored trial. */
  readonly cause: string | null;
  readonly causeDetail: string | null;
  /** First failed check of the verifier's verdict. */
  readonly failedCheck: string | null;
  readonly agentEnd: string | null;
  readonly reward: number | null;
  /** Reward dimensions beside the primary one. */
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly submission: Known<string>;
  readonly modelSource: ModelSource;
  readonly figures: Readonly<Record<FigureName, Known<number>>>;
  /** Whether the server was used, and own tools instead of it or beside it; null for an agent that no model drives. */
  readonly serverUse: { readonly use: Known<string>; readonly fallback: Known<string> } | null;
  /** Where the agent's own account of its calls and tokens differs from the gateway's, a sentence each; null without a model. */
  readonly account: Known<readonly string[]> | null;
  /** What the runner noticed and let pass, such as settings that the task planted for the agent. */
  readonly observations: readonly string[];
}

/** One attempt of a trial that had several. */
export interface AttemptLine {
  readonly number: number;
  readonly attempt: number;
  readonly task: string;
  readonly side: Side;
  readonly repetition: number;
  /** `counts`: the trial's last attempt; `superseded`: sealed, then made again; `cut off`: begun and never sealed. */
  readonly state: "counts" | "superseded" | "cut off";
  /** null for an attempt that was cut off. */
  readonly outcome: string | null;
  readonly causeDetail: string | null;
}

export interface Paired {
  readonly verdict: "better" | "worse" | "indecisive" | "invalid";
  readonly reasons: readonly string[];
  /** null when the comparison was refused. */
  readonly result: PairedResult | null;
}

export interface PairedResult {
  readonly control: Known<number>;
  readonly treatment: Known<number>;
  readonly difference: Known<number>;
  readonly interval: Known<{
    readonly low: number;
    readonly high: number;
    readonly level: number;
    readonly method: string;
  }>;
  readonly test: Known<{ readonly p: number; readonly method: string }>;
  readonly worstCase: Known<{ readonly low: number; readonly high: number }>;
  readonly plannedPairs: number;
  readonly completePairs: number;
  readonly tasks: number;
  /** What may be said, in reading order. */
  readonly interpretation: readonly string[];
  readonly method: readonly string[];
  /** Pairs by how each side ended; see {@link PairEnd}. */
  readonly pairs: readonly { readonly control: PairEnd; readonly treatment: PairEnd; readonly count: number }[];
  readonly secondary: readonly SecondaryLine[];
  /** The scored treatment trials' use of the server; no control has one, so nothing is paired. */
  readonly server: ServerPart;
}

export interface ServerPart {
  /** Trials by their use of the server and by their fallback, in words. */
  readonly use: readonly (readonly [words: string, count: number])[];
  readonly figures: readonly ServerFigure[];
}

export interface ServerFigure {
  readonly label: string;
  readonly unit: string;
  readonly trials: number;
  readonly known: number;
  readonly mean: Known<number>;
  readonly min: Known<number>;
  readonly max: Known<number>;
}

/** How one trial of a pair ended, in four words. */
export type PairEnd = "solved" | "partial" | "failed" | "unscored";

export interface SecondaryLine {
  readonly label: string;
  readonly unit: string;
  readonly completePairs: number;
  readonly plannedPairs: number;
  readonly control: Known<number>;
  readonly treatment: Known<number>;
  readonly difference: Known<number>;
  readonly interval: Known<{ readonly low: number; readonly high: number }>;
  readonly adjustedP: Known<number>;
}

/** What a trial did, by the gateway's trace. Times are microseconds since the agent's start. */
export interface Timeline {
  readonly number: number;
  readonly task: string;
  readonly side: Side;
  readonly repetition: number;
  readonly modelSource: ModelSource;
  readonly spans: Known<readonly Span[]>;
}

export interface Span {
  /** `model`: a request to the model; `tool`: a call of the server's tool; `own`: from an answer with calls of own tools to the next request. */
  readonly lane: "model" | "tool" | "own";
  readonly label: string;
  readonly startMicros: number;
  readonly endMicros: number;
  readonly ok: boolean;
  /** Why it is not ok. */
  readonly problem: string | null;
}

/** An operator's note; it stands beside the figures and changes none. */
export interface Review {
  /** Digest of the document that the note is about. */
  readonly about: string;
  readonly note: string;
  /** Wall-clock label of the note. */
  readonly writtenAt: string;
  /** What is known about the signature, in words. */
  readonly signature: string;
}
