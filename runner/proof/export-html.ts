import { callRows } from "./call-rows.ts";
import { digits, interval, placeOf, titleOf } from "./export-markdown.ts";
import type { ExportInput } from "./exports.ts";
import type { Picture } from "./picture.ts";
import { pictures } from "./plots.ts";
import { type ScoreRow, scoreRows } from "./score-rows.ts";
import { SPLITS } from "./terms.ts";

const STYLE = `
:root { color-scheme: light dark; --ground: #fbfbf9; --card: #ffffff; --ink: #1d2430; --soft: #5b6573; --line: #d9dde3; --note: #fff6df;
  --good: #2f7d5b; --series-1: #2463c9; --series-2: #c2571a; --series-3: #167a6e; --series-4: #8442b8; --series-5: #b02a5b; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --card: #1c2027; --ink: #e8ebf0; --soft: #a3adba; --line: #343b46;
  --note: #332b16; --good: #58b98c; --series-1: #7fb0ff; --series-2: #ffa566; --series-3: #56cdbb; --series-4: #c79bf2; --series-5: #ff8bb0; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; margin: 0 0 .25rem; } h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; } h3 { font-size: 1rem; margin: 0 0 .2rem; }
p { margin: .3rem 0; } .soft { color: var(--soft); } code { overflow-wrap: anywhere; }
.note { background: var(--note); border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; } .note ul { margin: .2rem 0; padding-left: 1.2rem; }
.big { display: grid; grid-template-columns: repeat(auto-fit, minmax(210px, 1fr)); gap: .8rem; margin: 1rem 0; padding: 0; list-style: none; }
.big li, .pictures > section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .8rem 1rem; }
.big b { display: block; font-size: 1.6rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.pictures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 1rem; }
.pictures figure { margin: .5rem 0 0; } .pictures svg { --plot-background: var(--card); max-width: 100%; height: auto; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--line); vertical-align: top; } th { color: var(--soft); font-weight: 600; white-space: nowrap; } td:not(:last-child) { white-space: nowrap; }
details { margin-top: .6rem; } summary { cursor: pointer; }
@media print { details { display: block; } }
`;

/** The results as one page that loads nothing and runs nothing: plots are drawn into it. */
export function toHtml(input: ExportInput): string {
  const { run, summary } = input;
  const title = titleOf(run.manifest.task);
  const rows = scoreRows(summary);
  const { settings, analysis, config } = run.manifest;
  const models = Object.entries(config).map(([role, endpoint]) => `${role} ${endpoint.model}`);
  const facts = [
    `${run.rows.length} ${run.manifest.task === "prover" ? "problems" : "annotated proofs"}, domain ${settings.domain}`,
    `samples ${settings.samples}, judgments a proof ${settings.verifier_repeats}`,
    `reference solution shown to judges: ${settings.use_reference_solution ? "yes" : "no"}`,
    models.join(", "),
    `replies ${run.modelSource}`,
    `${analysis.resamples} resamples of whole problems, seed ${analysis.seed}`,
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${text(title)} ${text(summary.run_id.slice(0, 12))}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${text(title)}</h1>
<p class="soft">${facts.map(text).join(" · ")}</p>
<p class="soft">run <code>${text(summary.run_id)}</code></p>
<ul class="big">${headlines(rows).map(headline).join("")}</ul>
<section class="note"><h3>Read this first</h3><ul>${notes(input)
    .map((note) => `<li>${text(note)}</li>`)
    .join("")}</ul></section>
<h2>Pictures</h2>
<div class="pictures">${pictures(input).map(picture).join("\n")}</div>
<h2>Scores</h2>
${scoreTable(rows.filter(({ group }) => group === "metric"))}
<h2>Votes</h2>
${scoreTable(rows.filter(({ group }) => group === "voting" || group === "cross-validated"))}
<h2>Fewer samples and judgments</h2>
<details><summary>${rows.filter(isScaling).length} scores</summary>${scoreTable(rows.filter(isScaling))}</details>
<h2>Splits</h2>
${table(
  ["split", "rows", "records", "complete"],
  SPLITS.map((split) => {
    const { selected_rows, completed_records, expected_records, complete } = summary.splits[split];
    return [split, String(selected_rows), `${completed_records}/${expected_records}`, complete ? "yes" : "no"];
  }),
)}
<h2>Calls</h2>
${table(
  ["role", "calls", "valid", "invalid", "retries", "prompt tokens", "completion tokens", "cost USD", "answered by"],
  callRows(input.calls).map((row) => Object.values(row).map(String)),
)}
</main>
</body>
</html>
`;
}

function notes({ cautions, summary }: ExportInput): string[] {
  const few = SPLITS.flatMap((split) => {
    const caution = summary.splits[split].analysis?.caution ?? null;
    return caution === null ? [] : [`${split}: ${caution}`];
  });
  return [...cautions, ...few];
}

function headlines(rows: readonly ScoreRow[]): ScoreRow[] {
  const names = ["pessimistic", "pass_any_sample", "rough_bal_f1", "meta_ver_bal_f1", "verifier_valid_rate"];
  return names.flatMap((name) =>
    rows.filter((row) => row.group === "metric" && row.split === "all" && row.score === name),
  );
}

function headline(row: ScoreRow): string {
  const range = interval(row.percentile_low, row.percentile_high);
  const shown = range === "–" ? "no interval: the data allow none" : `95 %: ${range}`;
  return `<li>${text(row.score)}<b>${digits(row.value)}</b><span class="soft">${text(shown)}</span></li>`;
}

function picture({ title, caption, markup }: Picture): string {
  return `<section><h3>${text(title)}</h3><p class="soft">${text(caption)}</p><figure role="img" aria-label="${text(`${title}. ${caption}`)}">${markup}</figure></section>`;
}

function isScaling({ group }: ScoreRow): boolean {
  return group === "scaling" || group === "pass@k";
}

function scoreTable(rows: readonly ScoreRow[]): string {
  return table(
    ["split", "score", "at", "value", "percentile 95 %", "BCa 95 %", "note"],
    rows.map((row) => [
      row.split,
      row.group === "cross-validated" ? `${row.score}, threshold by cross-validation` : row.score,
      placeOf(row),
      digits(row.value),
      interval(row.percentile_low, row.percentile_high),
      interval(row.bca_low, row.bca_high),
      row.note,
    ]),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td>${text(cell)}</td>`).join("")}</tr>`).join("\n");
  return `<div class="scroll"><table><thead><tr>${head.map((cell) => `<th scope="col">${text(cell)}</th>`).join("")}</tr></thead><tbody>${body}</tbody></table></div>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function text(value: string): string {
  return value.toWellFormed().replaceAll(/[&<>"']/g, (char) => ENTITIES[char] ?? char);
}
