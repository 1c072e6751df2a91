// A second counting, from whole lists of judgments and by enumerating every subset: slow, and plain enough to be seen to be right.
import type { Judged } from "../../../../runner/proof/judged.ts";

export type Agreed = "accepted" | "rejected" | "undecided";

export function average(values: readonly number[]): number | null {
  let total = 0;
  for (const value of values) total += value;
  return values.length === 0 ? null : total / values.length;
}

export function harmonicMean(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return null;
  if (a === 0 || b === 0) return 0;
  return 1 / ((1 / a + 1 / b) / 2);
}

function accepted(proof: Judged, repeats: number): boolean {
  if (proof.failed) return false;
  for (let index = 0; index < repeats; index += 1) if (proof.judgments[index] !== -1) return false;
  return true;
}

export function slowProver(proofs: readonly Judged[], repeats: number) {
  const problems = [...new Set(proofs.map(({ problem_id }) => problem_id))];
  const byProblem = problems.map((id) =>
    proofs.filter(({ problem_id }) => problem_id === id).map((proof) => accepted(proof, repeats)),
  );
  const judgments = proofs.flatMap((proof) =>
    Array.from({ length: repeats }, (_, index) => proof.judgments[index] ?? null),
  );
  return {
    problems: problems.length,
    proofs: proofs.length,
    pessimistic: average(byProblem.map((samples) => samples.filter(Boolean).length / samples.length)),
    pass_any_sample: average(byProblem.map((samples) => (samples.includes(true) ? 1 : 0))),
    generation_failure_rate: proofs.filter(({ failed }) => failed).length / proofs.length,
    verifier_valid_rate: judgments.filter((step) => step !== null).length / judgments.length,
  };
}

export function slowVerifier(proofs: readonly Judged[], repeats: number) {
  const score = (proof: Judged, earns: (step: number | null, index: number) => number): number => {
    let total = 0;
    for (let index = 0; index < repeats; index += 1) total += earns(proof.judgments[index] ?? null, index);
    return total / repeats;
  };
  const rough = (proof: Judged): number =>
    score(proof, (step) => {
      if (step === null) return 0;
      return proof.correct ? (step === -1 ? 1 : 0) : step === -1 ? 0 : 1;
    });
  const precise = (proof: Judged): number =>
    score(proof, (step) => (step !== null && step === proof.firstError ? 1 : 0));
  const meta = (proof: Judged): number => score(proof, (_, index) => proof.meta[index] ?? 0);
  const good = proofs.filter(({ correct }) => correct === true);
  const bad = proofs.filter(({ correct }) => correct === false);
  const [tpr, tnr, mtpr, mtnr] = [
    average(good.map(rough)),
    average(bad.map(rough)),
    average(good.map(meta)),
    average(bad.map(meta)),
  ];
  return {
    proofs: proofs.length,
    correct_proofs: good.length,
    incorrect_proofs: bad.length,
    rough_accuracy: average(proofs.map(rough)),
    rough_tpr: tpr,
    rough_tnr: tnr,
    rough_bal_f1: harmonicMean(tpr, tnr),
    balanced_accuracy: tpr === null || tnr === null ? null : 0.5 * tpr + 0.5 * tnr,
    first_error_step_accuracy: average(proofs.map(precise)),
    first_error_step_accuracy_incorrect: average(bad.map(precise)),
    verifier_valid_rate: average(proofs.map((proof) => score(proof, (step) => (step === null ? 0 : 1)))),
    meta_ver_tpr: mtpr,
    meta_ver_tnr: mtnr,
    meta_ver_bal_f1: harmonicMean(mtpr, mtnr),
    meta_valid_rate: average(
      proofs.map((proof) => score(proof, (_, index) => (typeof proof.meta[index] === "number" ? 1 : 0))),
    ),
  };
}

/** Every way to choose `size` of `items`. */
export function subsets<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, index) => subsets(items.slice(index + 1), size - 1).map((rest) => [item, ...rest]));
}

export function slowDecision(judgments: readonly (number | null)[], threshold: number): Agreed {
  let [yes, no] = [0, 0];
  for (const step of judgments) {
    if (step === -1) yes += 1;
    else if (step !== null) no += 1;
  }
  if (yes >= threshold) return "accepted";
  return no > judgments.length - threshold ? "rejected" : "undecided";
}
