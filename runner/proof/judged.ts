import type { Domain, ProofRecord } from "./terms.ts";

/** What counting needs of a record: its judgments without their words. */
export interface Judged {
  readonly record_key: string;
  readonly problem_id: string;
  readonly domain: Domain;
  /** The policy's reply was unusable or had no step; its judgments were never asked for. */
  readonly failed: boolean;
  /** Human ground truth; null on ProverBench. */
  readonly correct: boolean | null;
  readonly firstError: number;
  /** The step that each judgment names, -1 for "correct"; null for an invalid judgment. */
  readonly judgments: readonly (number | null)[];
  /** The score of each meta grade; null for an invalid or missing one. Empty without meta. */
  readonly meta: readonly (number | null)[];
}

/** Takes the countable part out of a record. */
export function judgedOf(record: ProofRecord): Judged {
  return {
    record_key: record.record_key,
    problem_id: record.problem_id,
    domain: record.domain,
    failed: typeof record.generation_error === "string",
    correct: record.is_correct ?? null,
    firstError: record.first_error_step ?? -1,
    judgments: record.verifier_trials.map((trial) => (trial.valid ? (trial.parsed?.first_error_step ?? null) : null)),
    meta: record.verifier_trials.flatMap((trial) =>
      trial.meta === undefined ? [] : [trial.meta.valid ? trial.meta.score : null],
    ),
  };
}

/** Valid judgments that accept the proof. */
export function acceptances(proof: Judged): number {
  return proof.judgments.filter((step) => step === -1).length;
}

/** Valid judgments that reject the proof; an invalid one never does. */
export function rejections(proof: Judged): number {
  return proof.judgments.filter((step) => step !== null && step !== -1).length;
}

/** True when all `repeats` requested judgments are valid and accept. */
export function pessimisticAccepts(proof: Judged, repeats: number): boolean {
  return !proof.failed && proof.judgments.length === repeats && acceptances(proof) === repeats;
}

/** Groups by problem, problems in order of first appearance. */
export function byProblem(proofs: readonly Judged[]): Judged[][] {
  const groups = new Map<string, Judged[]>();
  for (const proof of proofs) {
    const group = groups.get(proof.problem_id);
    if (group === undefined) groups.set(proof.problem_id, [proof]);
    else group.push(proof);
  }
  return [...groups.values()];
}
