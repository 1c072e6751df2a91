import type { Picture } from "./picture.ts";
import { hasValue, lines } from "./plot-draw.ts";
import type { ScoreRow } from "./score-rows.ts";

/** Acceptance by voting threshold. */
export function proverVotes(rows: readonly ScoreRow[]): Picture {
  const votes = rows.filter(({ group, score }) => group === "voting" && score === "accepted").filter(hasValue);
  return {
    title: "Accepted proofs by voting threshold",
    caption:
      "Share accepted when at least t judgments accept; the last t is the pessimistic score. Bands are 95 % percentile intervals.",
    markup: lines(votes, "threshold", "t: acceptances needed", "split", ["all", "ugd", "qe"], "↑ accepted"),
  };
}

/** The pessimistic score for fewer judgments. */
export function proverJudgments(rows: readonly ScoreRow[]): Picture {
  const scaling = rows
    .filter(({ group, score, samples }) => group === "scaling" && score === "pessimistic" && samples === 1)
    .filter(hasValue);
  return {
    title: "Pessimistic score with fewer judgments",
    caption:
      "Averages over all subsets of R judgments. The score can only fall with R, since one more judge can only object.",
    markup: lines(scaling, "repeats", "R: judgments a proof", "split", ["all", "ugd", "qe"], "↑ pessimistic"),
  };
}

/** Unbiased pass@k. */
export function proverSamples(rows: readonly ScoreRow[]): Picture {
  const passes = rows.filter(({ group }) => group === "pass@k").filter(hasValue);
  return {
    title: "pass@k",
    caption:
      "Chance that at least one of k sampled proofs is accepted by all judges, estimated without bias from all samples.",
    markup: lines(passes, "samples", "k: samples a problem", "split", ["all", "ugd", "qe"], "↑ pass@k"),
  };
}
