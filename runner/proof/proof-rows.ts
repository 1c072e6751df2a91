import { acceptances, type Judged, rejections } from "./judged.ts";
import { validJudgments } from "./metrics.ts";

/** One record in a flat table. */
export interface ProofTableRow {
  readonly record_key: string;
  readonly problem_id: string;
  readonly domain: string;
  readonly generation_failed: boolean;
  readonly human_correct: boolean | null;
  readonly human_first_error_step: number | null;
  readonly valid_judgments: number;
  readonly acceptances: number;
  readonly rejections: number;
  /** A JSON list of the step that each judgment names; null where it cannot be read. */
  readonly judgments: string;
  /** A JSON list of the score of each grade; null for an invalid or missing one. */
  readonly meta_scores: string;
}

/** The records of a run in the order of their keys. */
export function proofRows(judged: Iterable<Judged>): ProofTableRow[] {
  // In brackets, because a spreadsheet takes "-1 0" for a formula.
  const list = (values: readonly (number | null)[]): string => JSON.stringify(values);
  return [...judged]
    .sort((a, b) => (a.record_key < b.record_key ? -1 : 1))
    .map((proof) => ({
      record_key: proof.record_key,
      problem_id: proof.problem_id,
      domain: proof.domain,
      generation_failed: proof.failed,
      human_correct: proof.correct,
      human_first_error_step: proof.correct === null ? null : proof.firstError,
      valid_judgments: validJudgments(proof),
      acceptances: acceptances(proof),
      rejections: rejections(proof),
      judgments: list(proof.judgments),
      meta_scores: list(proof.meta),
    }));
}
