import type { Digest } from "../base/digest.ts";
import type { Json } from "../base/json.ts";

/** ProverBench or VerifierBench. */
export type Task = "prover" | "verifier";
/** The two domains of the benchmark, and both together. */
export type Domain = "ugd" | "qe";
export type Split = "all" | Domain;
export const SPLITS: readonly Split[] = ["all", "ugd", "qe"];
/** Who answers: the proof writer, the judge of proofs, the grader of judgments. */
export type Role = "policy" | "verifier" | "meta";
/** Where replies come from: a provider, a recording of one, or a hand-written cassette. */
export type ModelSource = "live" | "replayed" | "scripted";

/** The human annotation of a proof, as supplied. */
export interface Annotation {
  readonly first_fatal_error_step: number;
  readonly recoverable_error_steps: readonly number[];
  readonly reviewer_comment: string;
  readonly first_error_reason: Json;
  readonly remark: Json;
}

/** One problem of ProverBench. */
export interface ProblemRow {
  readonly problem_id: string;
  readonly problem: string;
  readonly reference_solution: string;
  readonly domain: Domain;
  readonly subject: Json;
}

/** One annotated proof of VerifierBench. */
export interface ProofRow extends ProblemRow {
  readonly proof_id: string;
  readonly steps: readonly string[];
  /** No fatal and no recoverable error. */
  readonly is_correct: boolean;
  /** The earliest fatal or recoverable step, -1 when there is none. */
  readonly first_error_step: number;
  readonly annotation: Annotation;
}

export type Row = ProblemRow | ProofRow;

/** Tells an annotated proof from a bare problem. */
export function isProofRow(row: Row): row is ProofRow {
  return "proof_id" in row;
}

/** Tokens of one reply as the provider reported them; null where it did not. */
export interface Usage {
  readonly prompt_tokens: number | null;
  readonly completion_tokens: number | null;
  readonly cached_tokens: number | null;
  readonly reasoning_tokens: number | null;
}

/** What one model call came to. Field names up to `error` are those of the public evaluator. */
export interface Reply {
  readonly text: string;
  /** Kept apart: it never stands in for an empty answer. */
  readonly reasoning_content: string;
  readonly finish_reason: string | null;
  readonly usage: Usage | null;
  /** `HTTP_<status>`, `network_error`, `invalid_chat_response` or null. */
  readonly error: string | null;
  /** The model that the endpoint says has answered. */
  readonly model: string | null;
  /** Transport attempts, at least 1. */
  readonly attempts: number;
  /** Microseconds from the first attempt to the end of the last one, waiting included. */
  readonly micros: number;
  /** The reply's exact bytes in the store; null when there is no usable body. */
  readonly raw: { readonly digest: Digest; readonly size: number } | null;
  /** True when the reply repeated a secret of this run, which was taken out. */
  readonly redacted: boolean;
}

/** A readable judgment. */
export interface Verdict {
  readonly assessment: string;
  readonly errors: string;
  readonly first_error_step: number;
}

export type Level = "EXACT_MATCH" | "BASIC_MATCH" | "POOR_MATCH" | "WRONG_POLARITY";

/** The meta model's grade of one judgment. */
export interface MetaGrade {
  readonly valid: boolean;
  readonly score: number;
  readonly error: string | null;
  readonly response: Reply | null;
  readonly prompt?: string;
  readonly level?: Level;
}

/** One of the R judgments of a proof. */
export interface Trial {
  readonly index: number;
  readonly response: Reply;
  readonly parsed: Verdict | null;
  readonly error: string | null;
  readonly valid: boolean;
  readonly meta?: MetaGrade;
}

/** One unit of a run: a generated proof with its judgments, or an annotated proof with its judgments. */
export interface ProofRecord {
  readonly record_key: string;
  readonly run_id: string;
  readonly problem_id: string;
  readonly domain: Domain;
  readonly subject: Json;
  readonly sample_index: number;
  readonly problem: string;
  readonly steps: readonly string[];
  readonly inputs: { readonly policy_prompt?: string; readonly verifier_prompt?: string };
  readonly verifier_trials: readonly Trial[];
  readonly policy: string | null;
  readonly verifier: string;
  readonly policy_response?: Reply;
  readonly generation_error?: string | null;
  readonly pessimistic_correct?: boolean;
  readonly proof_id?: string;
  readonly is_correct?: boolean;
  readonly first_error_step?: number;
}

/** A number of the run that decides what is asked of whom. */
export interface Settings {
  readonly samples: number;
  readonly verifier_repeats: number;
  readonly meta: boolean;
  readonly domain: Split;
  readonly limit: number | null;
  readonly use_reference_solution: boolean;
}

/** `000012_003`: row 12, sample 3. */
export function recordKey(row: number, sample: number): string {
  return `${String(row).padStart(6, "0")}_${String(sample).padStart(3, "0")}`;
}
