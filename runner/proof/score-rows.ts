import { isUnknown } from "../base/unknown.ts";
import type { Summary } from "./summary.ts";
import { SPLITS, type Split } from "./terms.ts";
import type { Estimate } from "./uncertainty.ts";

/** One score in a flat table; the same rows make every tabular export. */
export interface ScoreRow {
  readonly split: Split;
  /** What kind of score it is. */
  readonly group: "metric" | "voting" | "cross-validated" | "scaling" | "pass@k";
  readonly score: string;
  readonly threshold: number | null;
  readonly samples: number | null;
  readonly repeats: number | null;
  readonly value: number | null;
  readonly percentile_low: number | null;
  readonly percentile_high: number | null;
  readonly bca_low: number | null;
  readonly bca_high: number | null;
  /** Why there is no interval. */
  readonly note: string;
}

type Place = Partial<Pick<ScoreRow, "threshold" | "samples" | "repeats">>;

/** Every score of the complete splits, in a fixed order. */
export function scoreRows(summary: Summary): ScoreRow[] {
  return SPLITS.flatMap((split) => splitRows(split, summary));
}

function splitRows(split: Split, summary: Summary): ScoreRow[] {
  const { analysis } = summary.splits[split];
  if (analysis === null) return [];
  const rows: ScoreRow[] = [];
  const add = (
    group: ScoreRow["group"],
    score: string,
    estimate: Estimate | number | null,
    place: Place = {},
  ): void => {
    rows.push(toRow(split, group, score, estimate, place));
  };
  for (const [name, estimate] of Object.entries(analysis.uncertainty)) add("metric", name, estimate);
  for (const vote of analysis.voting) {
    const { threshold, ...scores } = vote;
    for (const [name, estimate] of Object.entries(scores)) add("voting", name, estimate, { threshold });
  }
  const chosen = analysis.cross_validated_threshold;
  if (chosen !== null && !isUnknown(chosen)) {
    for (const name of ["tpr", "tnr", "bal_f1"] as const) add("cross-validated", name, chosen[name]);
  }
  for (const row of analysis.scaling) {
    if ("threshold" in row) {
      const place = { threshold: row.threshold, repeats: row.verifier_repeats };
      for (const name of ["tpr", "tnr", "bal_f1"] as const) add("scaling", name, row[name], place);
    } else {
      const place = { samples: row.samples, repeats: row.verifier_repeats };
      for (const name of ["pessimistic", "pass_any_sample"] as const) add("scaling", name, row[name], place);
    }
  }
  for (const { k, pass_at_k } of analysis.pass_at_k ?? []) add("pass@k", "pass_at_k", pass_at_k, { samples: k });
  return rows;
}

function toRow(
  split: Split,
  group: ScoreRow["group"],
  score: string,
  estimate: Estimate | number | null,
  { threshold = null, samples = null, repeats = null }: Place,
): ScoreRow {
  const bare = estimate === null || typeof estimate === "number";
  const percentile = bare || isUnknown(estimate.percentile) ? null : estimate.percentile;
  const bca = bare || isUnknown(estimate.bca) ? null : estimate.bca;
  const reasons = bare
    ? []
    : [estimate.percentile, estimate.bca].flatMap((range) => (isUnknown(range) ? [range.detail ?? range.unknown] : []));
  return {
    split,
    group,
    score,
    threshold,
    samples,
    repeats,
    value: bare ? estimate : estimate.value,
    percentile_low: percentile?.low ?? null,
    percentile_high: percentile?.high ?? null,
    bca_low: bca?.low ?? null,
    bca_high: bca?.high ?? null,
    note: [...new Set(reasons)].join("; "),
  };
}
