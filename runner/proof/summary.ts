import type { Known } from "../base/unknown.ts";
import type { Judged } from "./judged.ts";
import { proverMeasures, verifierMeasures } from "./measures.ts";
import { type ProverMetrics, proverMetrics, type VerifierMetrics, verifierMetrics } from "./metrics.ts";
import { type ProverScale, passAtKs, proverScaling, type VerifierScale, verifierScaling } from "./scaling.ts";
import { type Row, type Settings, SPLITS, type Split, type Task } from "./terms.ts";
import { type DrawSource, drawNow, type Estimate, estimateAll, makeResampler } from "./uncertainty.ts";
import {
  type CrossValidated,
  crossValidate,
  type ProverVote,
  proverVotes,
  type VerifierVote,
  verifierVotes,
} from "./voting.ts";

/** How the intervals are made. */
export interface AnalysisSettings {
  readonly seed: number;
  readonly resamples: number;
}

/** What a complete split shows besides its metrics object. */
export interface Analysis {
  /** Intervals are 95 %, by resampling whole problems. */
  readonly clusters: number;
  readonly caution: string | null;
  readonly uncertainty: Readonly<Record<string, Estimate>>;
  readonly voting: readonly ProverVote[] | readonly VerifierVote[];
  readonly cross_validated_threshold: Known<CrossValidated> | null;
  readonly scaling: readonly ProverScale[] | readonly VerifierScale[];
  readonly pass_at_k: readonly { readonly k: number; readonly pass_at_k: Estimate }[] | null;
}

/** One split; everything up to `metrics` is as in the public evaluator. */
export interface SplitSummary {
  readonly selected_rows: number;
  readonly expected_records: number;
  readonly completed_records: number;
  readonly complete: boolean;
  /** Null until the split is complete. */
  readonly metrics: ProverMetrics | VerifierMetrics | null;
  readonly analysis: Analysis | null;
}

export interface Summary {
  readonly task: Task;
  readonly complete: boolean;
  readonly score_scale: "0-1";
  readonly invalid_output_policy: "zero_credit_in_fixed_denominator";
  readonly splits: Readonly<Record<Split, SplitSummary>>;
}

/** Clusters below which bootstrap intervals are known to be too short. */
const ENOUGH_CLUSTERS = 50;

/** The seed of a split's draws. */
export function splitSeed(seed: number, split: Split): string {
  return `${seed}/${split}`;
}

/** Scores of what is complete; nothing is said about a split of which a record is missing. */
export function summarize(
  task: Task,
  rows: readonly Row[],
  proofs: readonly Judged[],
  settings: Settings,
  analysis: AnalysisSettings,
  drawn: DrawSource = drawNow,
): Summary {
  const ordered = [...proofs].sort((a, b) => (a.record_key < b.record_key ? -1 : 1));
  const splits = Object.fromEntries(
    SPLITS.map((split) => [split, summarizeSplit(split, task, rows, ordered, settings, analysis, drawn)]),
  ) as Record<Split, SplitSummary>;
  return {
    task,
    complete: splits.all.complete,
    score_scale: "0-1",
    invalid_output_policy: "zero_credit_in_fixed_denominator",
    splits,
  };
}

function summarizeSplit(
  split: Split,
  task: Task,
  rows: readonly Row[],
  proofs: readonly Judged[],
  settings: Settings,
  analysis: AnalysisSettings,
  drawn: DrawSource,
): SplitSummary {
  const belongs = (item: { readonly domain: string }): boolean => split === "all" || item.domain === split;
  const selected = rows.filter(belongs).length;
  const done = proofs.filter(belongs);
  const expected = selected * (task === "prover" ? settings.samples : 1);
  const complete = done.length === expected;
  const scored = complete && done.length > 0;
  const { verifier_repeats: repeats, meta } = settings;
  return {
    selected_rows: selected,
    expected_records: expected,
    completed_records: done.length,
    complete,
    metrics: !scored ? null : task === "prover" ? proverMetrics(done, repeats) : verifierMetrics(done, repeats, meta),
    analysis: scored ? analyse(split, task, done, settings, analysis, drawn) : null,
  };
}

function analyse(
  split: Split,
  task: Task,
  proofs: readonly Judged[],
  settings: Settings,
  { seed, resamples }: AnalysisSettings,
  drawn: DrawSource,
): Analysis {
  const { verifier_repeats: repeats, samples, meta } = settings;
  const sampler = makeResampler(proofs, splitSeed(seed, split), resamples, drawn);
  const clusters = sampler.problems.length;
  const measures = task === "prover" ? proverMeasures(repeats) : verifierMeasures(repeats, meta);
  const shared = {
    clusters,
    caution:
      clusters >= ENOUGH_CLUSTERS
        ? null
        : `Only ${clusters} problems: bootstrap intervals are too short below about ${ENOUGH_CLUSTERS}; read them as a lower limit of the uncertainty.`,
    uncertainty: estimateAll(sampler, measures),
  };
  if (task === "prover") {
    return {
      ...shared,
      voting: proverVotes(sampler, repeats),
      cross_validated_threshold: null,
      scaling: proverScaling(sampler, samples, repeats),
      pass_at_k: passAtKs(sampler, samples, repeats),
    };
  }
  return {
    ...shared,
    voting: verifierVotes(sampler, repeats),
    cross_validated_threshold: crossValidate(sampler, repeats),
    scaling: verifierScaling(proofs, repeats),
    pass_at_k: null,
  };
}
