import { callRows } from "./call-rows.ts";
import type { ExportInput } from "./exports.ts";
import { type ScoreRow, scoreRows } from "./score-rows.ts";
import { SPLITS } from "./terms.ts";

/** The results as a Markdown page. */
export function toMarkdown(input: ExportInput): string {
  const { run, summary } = input;
  const { settings } = run.manifest;
  const rows = scoreRows(summary);
  const models = Object.entries(run.manifest.config).map(([role, endpoint]) => `${role} \`${code(endpoint.model)}\``);
  const parts = [
    `# ${titleOf(run.manifest.task)}: ${settings.domain}, ${run.rows.length} ${run.manifest.task === "prover" ? "problems" : "proofs"}`,
    bullets([
      `Run \`${summary.run_id}\`, replies ${run.modelSource}`,
      `Models: ${models.join(", ")}`,
      `Samples ${settings.samples}, judgments a proof ${settings.verifier_repeats}, reference solution shown to judges: ${settings.use_reference_solution ? "yes" : "no"}`,
      `Bootstrap: ${run.manifest.analysis.resamples} resamples of whole problems, seed ${run.manifest.analysis.seed}`,
    ]),
    "## Read this first",
    bullets(input.cautions),
    "## Splits",
    table(
      ["split", "rows", "records", "problems", "complete"],
      SPLITS.map((split) => {
        const { selected_rows, completed_records, expected_records, complete, analysis } = summary.splits[split];
        const problems = analysis === null ? "–" : String(analysis.clusters);
        return [
          split,
          String(selected_rows),
          `${completed_records}/${expected_records}`,
          problems,
          complete ? "yes" : "no",
        ];
      }),
    ),
    ...cautionsOf(summary),
    "## Scores",
    scoreTable(rows.filter(({ group }) => group === "metric")),
    "## Votes",
    run.manifest.task === "prover"
      ? "A proof is accepted by at least t valid acceptances of R. At t = R this is `pessimistic`."
      : "A proof is accepted by at least t valid acceptances of R, rejected only by at least R−t+1 valid rejections, and otherwise undecided, which earns zero in both classes.",
    scoreTable(rows.filter(({ group }) => group === "voting" || group === "cross-validated")),
    "## Fewer samples and judgments",
    scoreTable(rows.filter(({ group }) => group === "scaling" || group === "pass@k")),
    "## Calls",
    table(
      ["role", "calls", "valid", "invalid", "retries", "prompt tokens", "completion tokens", "cost USD", "answered by"],
      callRows(input.calls).map((row) => Object.values(row).map(String)),
    ),
  ];
  return `${parts.filter((part) => part !== "").join("\n\n")}\n`;
}

/** The benchmark's name. */
export function titleOf(task: "prover" | "verifier"): string {
  return task === "prover" ? "ProverBench" : "VerifierBench";
}

/** A score with three digits; what does not exist is a dash. */
export function digits(value: number | null): string {
  return value === null ? "–" : value.toFixed(3);
}

/** An interval with three digits. */
export function interval(low: number | null, high: number | null): string {
  return low === null || high === null ? "–" : `${digits(low)} to ${digits(high)}`;
}

/** Where a score stands: its threshold, samples and judgments. */
export function placeOf(row: ScoreRow): string {
  return [
    row.threshold === null ? "" : `t=${row.threshold}`,
    row.samples === null ? "" : `${row.group === "pass@k" ? "k" : "S"}=${row.samples}`,
    row.repeats === null ? "" : `R=${row.repeats}`,
  ]
    .filter((part) => part !== "")
    .join(" ");
}

function scoreTable(rows: readonly ScoreRow[]): string {
  if (rows.length === 0) return "No complete split.";
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

function cautionsOf(summary: ExportInput["summary"]): string[] {
  const notes = SPLITS.flatMap((split) => {
    const caution = summary.splits[split].analysis?.caution ?? null;
    return caution === null ? [] : [`${split}: ${caution}`];
  });
  return notes.length === 0 ? [] : [bullets(notes)];
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cellText).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

function cellText(text: string): string {
  return text
    .replaceAll(/[\r\n]+/g, " ")
    .replaceAll("|", "\\|")
    .replaceAll("<", "&lt;");
}

function code(text: string): string {
  return text.replaceAll(/[`\r\n]/g, " ");
}
