import * as Plot from "@observablehq/plot";
import type { ExportInput } from "./exports.ts";
import { acceptances } from "./judged.ts";
import type { Picture } from "./picture.ts";
import { COLOURS, draw, hasInterval, hasValue, legend, UNIT } from "./plot-draw.ts";
import { proverJudgments, proverSamples, proverVotes } from "./plots-prover.ts";
import { rates, verifierJudgments, verifierVotes } from "./plots-verifier.ts";
import { type ScoreRow, scoreRows } from "./score-rows.ts";

const HEADLINES = ["pessimistic", "pass_any_sample", "rough_bal_f1", "rough_tpr", "rough_tnr", "meta_ver_bal_f1"];

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
