import { passAtK, subsetAny, subsetAtLeast } from "../stats/subset-estimates.ts";
import { acceptances, type Judged, pessimisticAccepts, rejections } from "./judged.ts";
import { one, perProblem } from "./measures.ts";
import { balF1, mean } from "./metrics.ts";
import { type Estimate, type Resampler, ratio } from "./uncertainty.ts";

/** ProverBench as it would have been with fewer samples and judgments: means over all subsets, none drawn. */
export interface ProverScale {
  readonly samples: number;
  readonly verifier_repeats: number;
  readonly pessimistic: Estimate;
  readonly pass_any_sample: number | null;
}

/** VerifierBench voting with fewer judgments. Both rates are unbiased; their harmonic mean is computed from them. */
export interface VerifierScale {
  readonly verifier_repeats: number;
  readonly threshold: number;
  readonly tpr: number | null;
  readonly tnr: number | null;
  readonly bal_f1: number | null;
}

/** P(at least `threshold` hits) in a subset of `draws` of `total` judgments with `hits` hits; exact for the whole set. */
export function atLeast(total: number, hits: number, draws: number, threshold: number): number {
  return draws === total ? Number(hits >= threshold) : subsetAtLeast(total, hits, draws, threshold);
}

/**
 * Scores for every S' <= S and R' <= R. `pessimistic` has the same expectation for every S', so it is estimated once for each R'. Intervals
 * of `pass_any_sample` are given for all R judgments (there it is pass@k); the other cells are values alone.
 */
export function proverScaling(sampler: Resampler, samples: number, repeats: number): ProverScale[] {
  const rules = Array.from({ length: repeats }, (_, index) => {
    const fewer = index + 1;
    const accept = (proof: Judged): number => (proof.failed ? 0 : atLeast(repeats, acceptances(proof), fewer, fewer));
    return { fewer, accept };
  });
  const estimates = sampler.estimates(rules.map(({ accept }) => perProblem(accept)));
  return rules.flatMap(({ fewer, accept }, index) => {
    const pessimistic = estimates[index];
    if (pessimistic === undefined) throw new TypeError("each rule has an estimate");
    return Array.from({ length: samples }, (_, fewerSamples) => {
      const taken = fewerSamples + 1;
      const any = mean(sampler.problems.map((group) => subsetAny(group.map(accept), taken)));
      return { samples: taken, verifier_repeats: fewer, pessimistic, pass_any_sample: any };
    });
  });
}

/** Unbiased pass@k by pessimistic acceptance, for every k up to the number of samples. */
export function passAtKs(sampler: Resampler, samples: number, repeats: number): { k: number; pass_at_k: Estimate }[] {
  const measures = Array.from({ length: samples }, (_, index) => {
    const passes = (group: readonly Judged[]): number =>
      passAtK(group.length, group.filter((proof) => pessimisticAccepts(proof, repeats)).length, index + 1);
    return ratio(passes, one);
  });
  return sampler.estimates(measures).map((pass_at_k, index) => ({ k: index + 1, pass_at_k }));
}

/** Voting scores for every R' <= R and every threshold up to R'. */
export function verifierScaling(proofs: readonly Judged[], repeats: number): VerifierScale[] {
  const accepts = histogram(proofs, true, acceptances, repeats);
  const rejects = histogram(proofs, false, rejections, repeats);
  const rows: VerifierScale[] = [];
  for (let fewer = 1; fewer <= repeats; fewer += 1) {
    for (let threshold = 1; threshold <= fewer; threshold += 1) {
      const tpr = share(accepts, repeats, fewer, threshold);
      const tnr = share(rejects, repeats, fewer, fewer - threshold + 1);
      rows.push({ verifier_repeats: fewer, threshold, tpr, tnr, bal_f1: balF1(tpr, tnr) });
    }
  }
  return rows;
}

function histogram(
  proofs: readonly Judged[],
  correct: boolean,
  count: (proof: Judged) => number,
  repeats: number,
): number[] {
  const bins = Array.from({ length: repeats + 1 }, () => 0);
  for (const proof of proofs) {
    const hits = count(proof);
    if (proof.correct === correct) bins[hits] = (bins[hits] ?? 0) + 1;
  }
  return bins;
}

function share(bins: readonly number[], repeats: number, draws: number, threshold: number): number | null {
  const chances = bins.flatMap((count, hits) =>
    count === 0 ? [] : [{ count, chance: atLeast(repeats, hits, draws, threshold) }],
  );
  const total = chances.reduce((sum, { count }) => sum + count, 0);
  return total === 0 ? mean([]) : chances.reduce((sum, { count, chance }) => sum + count * chance, 0) / total;
}
