import { seededRandom, shuffled } from "../base/random.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { acceptances, byProblem, type Judged, rejections } from "./judged.ts";
import { acceptedBy, harmonic, ofClass, perProblem, perProof } from "./measures.ts";
import { balF1, mean } from "./metrics.ts";
import { type Estimate, estimateAll, estimateRows, type Resampler } from "./uncertainty.ts";

/** What R judgments decide together: an invalid judgment supports neither side. */
export type Decision = "accepted" | "rejected" | "undecided";

/** Acceptance by at least t valid acceptances of R; rejection only by at least R - t + 1 valid rejections. */
export function decide(proof: Judged, repeats: number, threshold: number): Decision {
  if (acceptances(proof) >= threshold) return "accepted";
  return rejections(proof) >= repeats - threshold + 1 ? "rejected" : "undecided";
}

/** One threshold on ProverBench. At t = R, `accepted` is `pessimistic`. */
export interface ProverVote {
  readonly threshold: number;
  readonly accepted: Estimate;
  readonly undecided: Estimate;
}

/** One threshold on VerifierBench: an undecided proof earns zero in its class, whichever that is. */
export interface VerifierVote {
  readonly threshold: number;
  readonly tpr: Estimate;
  readonly tnr: Estimate;
  readonly bal_f1: Estimate;
  readonly undecided: Estimate;
}

/** Every threshold 1 .. R on generated proofs. A failed generation is never accepted and counts as undecided. */
export function proverVotes(sampler: Resampler, repeats: number): ProverVote[] {
  const measures = thresholds(repeats).map((threshold) => ({
    accepted: perProblem(acceptedBy(threshold)),
    undecided: perProblem((proof) => Number(decide(proof, repeats, threshold) === "undecided")),
  }));
  return estimateRows(sampler, measures).map((estimates, index) => ({ threshold: index + 1, ...estimates }));
}

/** Every threshold 1 .. R on annotated proofs. */
export function verifierVotes(sampler: Resampler, repeats: number): VerifierVote[] {
  const measures = thresholds(repeats).map((threshold) => {
    const own = (): number => threshold;
    const tpr = ofClass(true, is("accepted", repeats, own));
    const tnr = ofClass(false, is("rejected", repeats, own));
    return { tpr, tnr, bal_f1: harmonic(tpr, tnr), undecided: perProof(is("undecided", repeats, own)) };
  });
  return estimateRows(sampler, measures).map((estimates, index) => ({ threshold: index + 1, ...estimates }));
}

/** A threshold chosen without the rows it is reported on. */
export interface CrossValidated {
  readonly folds: readonly { readonly threshold: number; readonly problems: number; readonly proofs: number }[];
  /** Scores of all proofs, each judged by the threshold of its fold; intervals take the chosen thresholds as given. */
  readonly tpr: Estimate;
  readonly tnr: Estimate;
  readonly bal_f1: Estimate;
}

const FOLDS = 5;

/**
 * Splits the problems into folds (seeded; all proofs of a problem stay together), chooses for each fold the threshold with the best BalF1
 * on the other folds (the stricter one among equals), and scores each proof by the threshold of its own fold.
 */
export function crossValidate(sampler: Resampler, repeats: number): Known<CrossValidated> {
  const folds = makeFolds(sampler);
  if (folds.length < 2) return unknown("unavailable", "cross-validation needs at least 2 problems");
  const chosen = new Map<string, number>();
  const shown: CrossValidated["folds"][number][] = [];
  for (const { held, rest } of folds) {
    const threshold = bestThreshold(rest.flat(), repeats);
    if (threshold === null) {
      return unknown("unavailable", "without one of the folds, the remaining proofs are all of one class");
    }
    for (const group of held) chosen.set(group[0]?.problem_id ?? "", threshold);
    shown.push({ threshold, problems: held.length, proofs: held.flat().length });
  }
  const own = (proof: Judged): number => chosen.get(proof.problem_id) ?? repeats;
  const tpr = ofClass(true, is("accepted", repeats, own));
  const tnr = ofClass(false, is("rejected", repeats, own));
  return { folds: shown, ...estimateAll(sampler, { tpr, tnr, bal_f1: harmonic(tpr, tnr) }) };
}

/** Folds of whole problems, drawn from the sampler's seed: the problems held out, and the others. */
export function makeFolds(sampler: Pick<Resampler, "problems" | "seed">) {
  const problems = shuffled(sampler.problems, seededRandom(`${sampler.seed}/folds`));
  const count = Math.min(FOLDS, problems.length);
  return Array.from({ length: count }, (_, fold) => ({
    held: problems.filter((_group, index) => index % count === fold),
    rest: problems.filter((_group, index) => index % count !== fold),
  }));
}

/** The threshold with the best BalF1 on these proofs, the stricter among equals; null when a class is absent. */
export function bestThreshold(proofs: readonly Judged[], repeats: number): number | null {
  const groups = byProblem(proofs).flat();
  let best: { threshold: number; score: number } | null = null;
  for (const threshold of thresholds(repeats)) {
    const share = (correct: boolean, wanted: Decision): number | null =>
      mean(
        groups
          .filter((proof) => proof.correct === correct)
          .map((proof) => Number(decide(proof, repeats, threshold) === wanted)),
      );
    const score = balF1(share(true, "accepted"), share(false, "rejected"));
    if (score === null) return null;
    if (best === null || score >= best.score) best = { threshold, score };
  }
  return best?.threshold ?? null;
}

function is(wanted: Decision, repeats: number, threshold: (proof: Judged) => number): (proof: Judged) => number {
  return (proof) => Number(decide(proof, repeats, threshold(proof)) === wanted);
}

function thresholds(repeats: number): number[] {
  return Array.from({ length: repeats }, (_, index) => index + 1);
}
