import * as Plot from "@observablehq/plot";
import type { Picture } from "./picture.ts";
import { draw, hasValue, legend, lines, UNIT } from "./plot-draw.ts";
import { placeLabels } from "./plot-labels.ts";
import type { ScoreRow } from "./score-rows.ts";

/** TPR against TNR, one point a threshold. */
export function rates(rows: readonly ScoreRow[]): Picture {
  const bySplit = new Map<string, { split: string; threshold: number; tpr: number; tnr: number }>();
  for (const row of rows.filter(({ group }) => group === "voting")) {
    if (row.value === null || (row.score !== "tpr" && row.score !== "tnr")) continue;
    const key = `${row.split}/${row.threshold}`;
    const point = bySplit.get(key) ?? {
      split: row.split,
      threshold: row.threshold ?? 0,
      tpr: Number.NaN,
      tnr: Number.NaN,
    };
    point[row.score] = row.value;
    bySplit.set(key, point);
  }
  const points = [...bySplit.values()].filter(({ tpr, tnr }) => !Number.isNaN(tpr + tnr));
  const labels = labelsOf(points);
  const markup = draw({
    ...RATES,
    x: { ...UNIT, label: "TNR: incorrect proofs rejected →" },
    y: { ...UNIT, label: "↑ TPR: correct proofs accepted" },
    color: legend(["all", "ugd", "qe"]),
    marks: [
      Plot.line(points, { x: "tnr", y: "tpr", stroke: "split", z: "split", strokeOpacity: 0.6 }),
      Plot.link(
        labels.filter(({ far }) => far),
        { x1: "tnr", y1: "tpr", x2: "x", y2: "y", strokeOpacity: 0.35 },
      ),
      Plot.dot(points, { x: "tnr", y: "tpr", fill: "split", r: 4 }),
      // A ring of the ground's colour keeps a number legible where a line passes below it.
      ...["shared", "own"].map((kind) =>
        Plot.text(
          labels.filter(({ split }) => (split === null) === (kind === "shared")),
          {
            x: "x",
            y: "y",
            text: "text",
            fill: kind === "own" ? "split" : "currentColor",
            stroke: "var(--plot-background)",
            strokeWidth: 4,
          },
        ),
      ),
    ],
  });
  return {
    title: "TPR against TNR for every voting threshold",
    caption:
      "One point a threshold t, with its number: acceptance needs t valid acceptances, so larger t lie lower and further right. Points in one place share their numbers.",
    markup,
  };
}

/** Size of the plot of rates, in pixels; the inset leaves room for numbers beside the greatest and least rates. */
const RATES = { width: 560, height: 440, marginTop: 36, marginRight: 20, marginBottom: 44, marginLeft: 50, inset: 16 };

interface RatePoint {
  readonly split: string;
  readonly threshold: number;
  readonly tpr: number;
  readonly tnr: number;
}

/** Numbers beside the points, placed in pixels and given in rates. */
function labelsOf(points: readonly RatePoint[]) {
  const left = RATES.marginLeft + RATES.inset;
  const bottom = RATES.height - RATES.marginBottom - RATES.inset;
  const width = RATES.width - RATES.marginRight - RATES.inset - left;
  const height = bottom - RATES.marginTop - RATES.inset;
  const frame = {
    left: RATES.marginLeft,
    right: RATES.width,
    top: RATES.marginTop - 8,
    bottom: RATES.height - RATES.marginBottom,
  };
  const numbered = points.map(({ split, threshold, tpr, tnr }) => ({
    x: left + tnr * width,
    y: bottom - tpr * height,
    number: threshold,
    series: split,
  }));
  return placeLabels(numbered, frame).map((label) => ({
    x: (label.x - left) / width,
    y: (bottom - label.y) / height,
    tnr: (label.of.x - left) / width,
    tpr: (bottom - label.of.y) / height,
    text: label.text,
    split: label.series,
    far: label.far,
  }));
}

/** Rates by voting threshold. */
export function verifierVotes(rows: readonly ScoreRow[]): Picture {
  const names = ["tpr", "tnr", "bal_f1", "undecided"];
  const votes = rows
    .filter(({ group, split, score }) => group === "voting" && split === "all" && names.includes(score))
    .filter(hasValue);
  return {
    title: "Votes: rates by threshold, both domains",
    caption:
      "At each threshold t: correct proofs accepted (TPR), incorrect ones rejected (TNR), their harmonic mean, and the undecided share.",
    markup: lines(votes, "threshold", "t: acceptances needed", "score", names, "↑ rate"),
  };
}

/** BalF1 for fewer judgments under three rules. */
export function verifierJudgments(rows: readonly ScoreRow[]): Picture {
  const rules: Record<string, (repeats: number) => number> = {
    "one acceptance is enough": () => 1,
    "majority accepts": (repeats) => Math.floor(repeats / 2) + 1,
    "all must accept": (repeats) => repeats,
  };
  const scaling = rows
    .filter(({ group, score, split }) => group === "scaling" && score === "bal_f1" && split === "all")
    .filter(hasValue);
  const points = Object.entries(rules).flatMap(([rule, threshold]) =>
    scaling
      .filter(({ repeats, threshold: t }) => repeats !== null && t === threshold(repeats))
      .map((row) => ({ ...row, rule })),
  );
  return {
    title: "BalF1 with fewer judgments, both domains",
    caption:
      "Averages over all subsets of R judgments, under three rules of acceptance; rejection needs the complementary number of valid rejections.",
    markup: lines(points, "repeats", "R: judgments a proof", "rule", Object.keys(rules), "↑ BalF1"),
  };
}
