import { acceptances, type Judged, pessimisticAccepts } from "./judged.ts";
import { balF1, localizationShare, metaShare, metaValid, polarityShare, validJudgments } from "./metrics.ts";
import { joined, type Measure, ratio } from "./uncertainty.ts";

type Share = (proof: Judged) => number;

/** The measure of each rate in ProverBench's metrics object: the same numbers, as functions of totals by problem. */
export function proverMeasures(repeats: number): Record<string, Measure> {
  return {
    pessimistic: perProblem((proof) => Number(pessimisticAccepts(proof, repeats))),
    pass_any_sample: ratio((group) => Number(group.some((proof) => pessimisticAccepts(proof, repeats))), one),
    generation_failure_rate: perProof((proof) => Number(proof.failed)),
    verifier_valid_rate: perProof((proof) => validJudgments(proof) / repeats),
  };
}

/** The measure of each rate in VerifierBench's metrics object. */
export function verifierMeasures(repeats: number, meta: boolean): Record<string, Measure> {
  const rough: Share = (proof) => polarityShare(proof, repeats);
  const precise: Share = (proof) => localizationShare(proof, repeats);
  const graded: Share = (proof) => metaShare(proof, repeats);
  const [tpr, tnr] = [ofClass(true, rough), ofClass(false, rough)];
  const [metaTpr, metaTnr] = [ofClass(true, graded), ofClass(false, graded)];
  return {
    rough_accuracy: perProof(rough),
    rough_tpr: tpr,
    rough_tnr: tnr,
    rough_bal_f1: harmonic(tpr, tnr),
    balanced_accuracy: joined(tpr, tnr, (a, b) => (a + b) / 2),
    first_error_step_accuracy: perProof(precise),
    first_error_step_accuracy_incorrect: ofClass(false, precise),
    verifier_valid_rate: perProof((proof) => validJudgments(proof) / repeats),
    ...(meta && {
      meta_ver_tpr: metaTpr,
      meta_ver_tnr: metaTnr,
      meta_ver_bal_f1: harmonic(metaTpr, metaTnr),
      meta_valid_rate: perProof((proof) => metaValid(proof) / repeats),
    }),
  };
}

/** Average the samples of a problem, then the problems. */
export function perProblem(share: Share): Measure {
  return ratio((group) => sum(group, share) / group.length, one);
}

/** Average over all proofs. */
export function perProof(share: Share): Measure {
  return ratio((group) => sum(group, share), size);
}

/** Average over the proofs of one human class. */
export function ofClass(correct: boolean, share: Share): Measure {
  const [members, count] = correct ? [positives, positiveCount] : [negatives, negativeCount];
  return ratio((group) => sum(members(group), share), count);
}

/** The harmonic mean of two rates (`bal_f1`). */
export function harmonic(tpr: Measure, tnr: Measure): Measure {
  return joined(tpr, tnr, (a, b) => balF1(a, b) ?? Number.NaN);
}

/** Acceptance by at least `threshold` valid acceptances. */
export function acceptedBy(threshold: number): Share {
  return (proof) => Number(!proof.failed && acceptances(proof) >= threshold);
}

/** The column of ones: it counts problems. */
export function one(): number {
  return 1;
}

// Denominators are shared functions, because equal columns are recognised by identity and summed once.
function size(group: readonly Judged[]): number {
  return group.length;
}

function positives(group: readonly Judged[]): readonly Judged[] {
  return group.filter((proof) => proof.correct === true);
}

function negatives(group: readonly Judged[]): readonly Judged[] {
  return group.filter((proof) => proof.correct === false);
}

function positiveCount(group: readonly Judged[]): number {
  return positives(group).length;
}

function negativeCount(group: readonly Judged[]): number {
  return negatives(group).length;
}

function sum(group: readonly Judged[], share: Share): number {
  return group.reduce((total, proof) => total + share(proof), 0);
}
