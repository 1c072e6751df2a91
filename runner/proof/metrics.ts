import { byProblem, type Judged, pessimisticAccepts } from "./judged.ts";

/** ProverBench's metrics object; field names of the public evaluator, scores in [0, 1]. */
export interface ProverMetrics {
  readonly problems: number;
  readonly proofs: number;
  readonly pessimistic: number;
  readonly pass_any_sample: number;
  readonly generation_failure_rate: number;
  readonly verifier_valid_rate: number;
}

/** VerifierBench's metrics object; field names of the public evaluator. Null where a class is absent. */
export interface VerifierMetrics {
  readonly proofs: number;
  readonly correct_proofs: number;
  readonly incorrect_proofs: number;
  readonly rough_accuracy: number;
  readonly rough_tpr: number | null;
  readonly rough_tnr: number | null;
  readonly rough_bal_f1: number | null;
  readonly balanced_accuracy: number | null;
  readonly first_error_step_accuracy: number;
  readonly first_error_step_accuracy_incorrect: number | null;
  readonly verifier_valid_rate: number;
  readonly meta_ver_tpr?: number | null;
  readonly meta_ver_tnr?: number | null;
  readonly meta_ver_bal_f1?: number | null;
  readonly meta_valid_rate?: number;
}

/** The mean, null for nothing. */
export function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Harmonic mean of two rates: null when one is absent, 0 when both are 0. The historical name is kept; it is no ordinary F1. */
export function balF1(tpr: number | null, tnr: number | null): number | null {
  if (tpr === null || tnr === null) return null;
  return tpr + tnr === 0 ? 0 : (2 * tpr * tnr) / (tpr + tnr);
}

/** Scores of generated proofs, each of which was to get `repeats` judgments. At least one proof. */
export function proverMetrics(proofs: readonly Judged[], repeats: number): ProverMetrics {
  const groups = byProblem(proofs).map((group) => group.map((proof) => Number(pessimisticAccepts(proof, repeats))));
  return {
    problems: groups.length,
    proofs: proofs.length,
    pessimistic: meanOf(groups.map(meanOf)),
    pass_any_sample: meanOf(groups.map((group) => Math.max(...group))),
    generation_failure_rate: meanOf(proofs.map((proof) => Number(proof.failed))),
    verifier_valid_rate: shareOfRequested(proofs, repeats, validJudgments),
  };
}

/** Scores of a verifier on annotated proofs, each of which was to get `repeats` judgments. At least one proof. */
export function verifierMetrics(proofs: readonly Judged[], repeats: number, meta: boolean): VerifierMetrics {
  const correct = proofs.filter((proof) => proof.correct === true);
  const incorrect = proofs.filter((proof) => proof.correct === false);
  const rough = (proof: Judged): number => polarityShare(proof, repeats);
  const precise = (proof: Judged): number => localizationShare(proof, repeats);
  const tpr = mean(correct.map(rough));
  const tnr = mean(incorrect.map(rough));
  const basic: VerifierMetrics = {
    proofs: proofs.length,
    correct_proofs: correct.length,
    incorrect_proofs: incorrect.length,
    rough_accuracy: meanOf(proofs.map(rough)),
    rough_tpr: tpr,
    rough_tnr: tnr,
    rough_bal_f1: balF1(tpr, tnr),
    balanced_accuracy: tpr === null || tnr === null ? null : (tpr + tnr) / 2,
    first_error_step_accuracy: meanOf(proofs.map(precise)),
    first_error_step_accuracy_incorrect: mean(incorrect.map(precise)),
    verifier_valid_rate: shareOfRequested(proofs, repeats, validJudgments),
  };
  if (!meta) return basic;
  const graded = (proof: Judged): number => metaShare(proof, repeats);
  const metaTpr = mean(correct.map(graded));
  const metaTnr = mean(incorrect.map(graded));
  return {
    ...basic,
    meta_ver_tpr: metaTpr,
    meta_ver_tnr: metaTnr,
    meta_ver_bal_f1: balF1(metaTpr, metaTnr),
    meta_valid_rate: shareOfRequested(proofs, repeats, metaValid),
  };
}

/** The share of all requested judgments that are valid and agree with the human polarity. */
export function polarityShare(proof: Judged, repeats: number): number {
  return proof.judgments.filter((step) => step !== null && (step === -1) === proof.correct).length / repeats;
}

/** The share of all requested judgments that name exactly the human first error. */
export function localizationShare(proof: Judged, repeats: number): number {
  return proof.judgments.filter((step) => step === proof.firstError).length / repeats;
}

/** The mean meta score over all requested judgments; an invalid judgment or grade scores 0. */
export function metaShare(proof: Judged, repeats: number): number {
  return proof.meta.reduce((sum: number, score) => sum + (score ?? 0), 0) / repeats;
}

/** Valid judgments of a proof. */
export function validJudgments(proof: Judged): number {
  return proof.judgments.filter((step) => step !== null).length;
}

/** Valid meta grades of a proof. */
export function metaValid(proof: Judged): number {
  return proof.meta.filter((score) => score !== null).length;
}

function shareOfRequested(proofs: readonly Judged[], repeats: number, count: (proof: Judged) => number): number {
  return proofs.reduce((sum, proof) => sum + count(proof), 0) / (proofs.length * repeats);
}

function meanOf(values: readonly number[]): number {
  return mean(values) ?? Number.NaN;
}
