import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { ExportInput } from "./exports.ts";
import { acceptances } from "./judged.ts";
import { type ScoreRow, scoreRows } from "./score-rows.ts";

/** A plot as markup that needs no script. */
export interface Picture {
  readonly title: string;
  /** What to see, in one or two sentences; also the picture's text for those who cannot see it. */
  readonly caption: string;
  readonly markup: string;
}

const COLOURS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)"];
const HEADLINES = ["pessimistic", "pass_any_sample", "rough_bal_f1", "rough_tpr", "rough_tnr", "meta_ver_bal_f1"];
const UNIT: Plot.ScaleOptions = { domain: [0, 1], grid: true };

/** Every plot that the results support. */
export function pictures(input: ExportInput): Picture[] {
  const rows = scoreRows(input.summary);
  if (rows.length === 0) return [];
  const prover = input.run.manifest.task === "prover";
  return [
    scores(rows),
    ...(prover ? [] : [rates(rows)]),
    prover ? proverVotes(rows) : verifierVotes(rows),
    voteCounts(input, prover),
    ...(prover ? [proverJudgments(rows), proverSamples(rows)] : [verifierJudgments(rows)]),
    validity(input),
  ];
}

function scores(rows: readonly ScoreRow[]): Picture {
  const shown = rows.filter(({ group, score }) => group === "metric" && HEADLINES.includes(score));
  const names = HEADLINES.filter((name) => shown.some(({ score }) => score === name));
  const markup = draw({
    height: 40 + names.length * 74,
    marginLeft: 50,
    marginRight: 130,
    x: { ...UNIT, label: "score" },
    y: { domain: ["all", "ugd", "qe"], label: null },
    fy: { domain: names, label: null },
    marks: [
      Plot.ruleY(shown.filter(hasInterval), {
        x1: "percentile_low",
        x2: "percentile_high",
        y: "split",
        fy: "score",
        stroke: "var(--series-1)",
        strokeWidth: 3,
        strokeOpacity: 0.45,
      }),
      Plot.dot(shown.filter(hasValue), { x: "value", y: "split", fy: "score", r: 4.5, fill: "var(--series-1)" }),
    ],
  });
  return {
    title: "Scores with their intervals",
    caption: "Dot: the score. Bar: its 95 % percentile interval over problems; no bar means that the data allow none.",
    markup,
  };
}

function rates(rows: readonly ScoreRow[]): Picture {
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
  const markup = draw({
    height: 420,
    x: { ...UNIT, label: "TNR: incorrect proofs rejected →" },
    y: { ...UNIT, label: "↑ TPR: correct proofs accepted" },
    color: legend(["all", "ugd", "qe"]),
    marks: [
      Plot.line(points, { x: "tnr", y: "tpr", stroke: "split", z: "split", strokeOpacity: 0.6 }),
      Plot.dot(points, { x: "tnr", y: "tpr", fill: "split", r: 4 }),
      Plot.text(points, {
        x: "tnr",
        y: "tpr",
        text: (point: { threshold: number }) => `t=${point.threshold}`,
        dx: 7,
        dy: -8,
        textAnchor: "start",
      }),
    ],
  });
  return {
    title: "TPR against TNR for every voting threshold",
    caption: "One point a threshold t: acceptance needs t valid acceptances, so larger t lie lower and further right.",
    markup,
  };
}

function proverVotes(rows: readonly ScoreRow[]): Picture {
  const votes = rows.filter(({ group, score }) => group === "voting" && score === "accepted").filter(hasValue);
  return {
    title: "Accepted proofs by voting threshold",
    caption:
      "Share accepted when at least t judgments accept; the last t is the pessimistic score. Bands are 95 % percentile intervals.",
    markup: lines(votes, "threshold", "t: acceptances needed", "split", ["all", "ugd", "qe"], "↑ accepted"),
  };
}

function verifierVotes(rows: readonly ScoreRow[]): Picture {
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

function voteCounts({ judged, run }: ExportInput, prover: boolean): Picture {
  const repeats = run.manifest.settings.verifier_repeats;
  const groups = prover ? ["generated"] : ["human-correct", "human-incorrect"];
  const name = (correct: boolean | null): string =>
    correct === null ? "generated" : correct ? "human-correct" : "human-incorrect";
  const data = judged.map((proof) => ({ accepts: String(acceptances(proof)), group: name(proof.correct) }));
  const markup = draw({
    height: 260,
    x: {
      domain: Array.from({ length: repeats + 1 }, (_, count) => String(count)),
      label: `valid acceptances of ${repeats} →`,
      type: "band",
    },
    y: { label: "↑ proofs", grid: true, ticks: 5, tickFormat: "d" },
    color: legend(groups),
    marks: [
      Plot.barY(data, Plot.groupX({ y: "count" }, { x: "accepts", fill: "group", order: groups })),
      Plot.ruleY([0]),
    ],
  });
  return {
    title: "How many judgments accept a proof",
    caption: "Proofs by the number of their valid acceptances; judges that agree pile up at both ends.",
    markup,
  };
}

function proverJudgments(rows: readonly ScoreRow[]): Picture {
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

function proverSamples(rows: readonly ScoreRow[]): Picture {
  const passes = rows.filter(({ group }) => group === "pass@k").filter(hasValue);
  return {
    title: "pass@k",
    caption:
      "Chance that at least one of k sampled proofs is accepted by all judges, estimated without bias from all samples.",
    markup: lines(passes, "samples", "k: samples a problem", "split", ["all", "ugd", "qe"], "↑ pass@k"),
  };
}

function verifierJudgments(rows: readonly ScoreRow[]): Picture {
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

function validity({ calls }: ExportInput): Picture {
  const data = Object.entries(calls).flatMap(([role, tally]) =>
    [["valid", tally.valid] as const, ...Object.entries(tally.invalid)].map(([reason, count]) => ({
      role,
      reason,
      share: count / tally.calls,
    })),
  );
  const reasons = ["valid", ...new Set(data.map(({ reason }) => reason).filter((reason) => reason !== "valid"))];
  const markup = draw({
    height: 70 + Object.keys(calls).length * 46,
    marginLeft: 70,
    x: { label: "share of replies →", domain: [0, 1], tickFormat: ".0%" },
    y: { label: null, domain: Object.keys(calls) },
    color: {
      ...legend(reasons),
      range: reasons.map((reason, index) =>
        reason === "valid" ? "var(--good)" : (COLOURS[1 + ((index - 1) % 4)] ?? "currentColor"),
      ),
    },
    marks: [Plot.barX(data, { x: "share", y: "role", fill: "reason", order: reasons, insetTop: 6, insetBottom: 6 })],
  });
  return {
    title: "Which replies could be used",
    caption: "Everything that is not valid earns zero and stays in the denominator.",
    markup,
  };
}

function lines(
  data: readonly object[],
  x: string,
  xLabel: string,
  series: string,
  names: readonly string[],
  yLabel: string,
): string {
  const values = [...new Set(data.map((row) => Reflect.get(row, x) as number))].sort((a, b) => a - b);
  return draw({
    height: 320,
    x: { label: `${xLabel} →`, ticks: values, tickFormat: "d", inset: 12 },
    y: { ...UNIT, label: yLabel },
    color: legend(names),
    marks: [
      Plot.areaY(data, {
        filter: hasInterval,
        x,
        y1: "percentile_low",
        y2: "percentile_high",
        fill: series,
        z: series,
        fillOpacity: 0.14,
      }),
      Plot.line(data, { x, y: "value", stroke: series, z: series, strokeWidth: 2 }),
      Plot.dot(data, { x, y: "value", fill: series, r: 3.5 }),
    ],
  });
}

function legend(domain: readonly string[]): Plot.ScaleOptions {
  return { type: "ordinal", domain: [...domain], range: COLOURS.slice(0, Math.max(1, domain.length)), legend: true };
}

function hasInterval(row: unknown): boolean {
  return typeof row === "object" && row !== null && typeof Reflect.get(row, "percentile_low") === "number";
}

function hasValue(row: ScoreRow): boolean {
  return row.value !== null;
}

function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const style = { fontSize: "13px", background: "transparent", overflow: "visible" };
  return Plot.plot({ width: 560, marginBottom: 44, ...options, style, document }).outerHTML;
}
