import type { CalibrationResult } from "./calibration.ts";
import type { CellResult, Rule, RuleCounts } from "./calibration-cell.ts";
import { cellName } from "./calibration-grid.ts";
import type { Shortfall } from "./calibration-verdict.ts";
import { BARS } from "./calibration-verdict.ts";

function percent(share: number): string {
  return (100 * share).toFixed(1);
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

function table(header: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(header), line(header.map(() => "---")), ...rows.map(line)];
}

function ran(results: readonly CellResult[], rule: Rule): RuleCounts[] {
  return results.map((result) => result.rules[rule]).filter(({ simulations }) => simulations > 0);
}

function coverageText(results: readonly CellResult[], rule: Rule): string {
  const counts = ran(results, rule);
  if (counts.length === 0) return "-";
  const coverage = counts.map(({ covered, simulations }) => covered / simulations);
  const above = coverage.filter((share) => share > 0.97).length;
  const width = counts.reduce((sum, { width, simulations }) => sum + width / simulations, 0) / counts.length;
  const range = `${percent(Math.min(...coverage))} / ${percent(median(coverage))} / ${percent(Math.max(...coverage))}`;
  return `${range}; ${((100 * above) / counts.length).toFixed(0)}% >97; w ${width.toFixed(2)}`;
}

function worstFalsePositives(results: readonly CellResult[], rule: Rule): string {
  const nulls = ran(
    results.filter(({ cell }) => cell.population.delta === 0),
    rule,
  );
  if (nulls.length === 0) return "-";
  return percent(Math.max(...nulls.map(({ rejected, simulations }) => rejected / simulations)));
}

/** Mean power over cells away from the ceiling, smaller / larger effect, by repetitions. */
function powerText(results: readonly CellResult[], rule: Rule): string {
  const repetitions = [...new Set(results.map(({ cell }) => cell.repetitions))].sort((a, b) => a - b);
  const sizes = results.map(({ cell }) => Math.abs(cell.population.delta));
  const effects = [...new Set(sizes)].filter((size) => size > 0).sort((a, b) => a - b);
  if (effects.length === 0) return "-";
  const texts = repetitions.map((r) =>
    effects
      .map((size) => {
        const counts = ran(
          results.filter(
            ({ cell }) =>
              cell.repetitions === r && Math.abs(cell.population.delta) === size && cell.population.mean < 0.9,
          ),
          rule,
        );
        const power =
          counts.reduce((sum, { rejected, simulations }) => sum + rejected / simulations, 0) / counts.length;
        return counts.length === 0 ? "-" : (100 * power).toFixed(0);
      })
      .join("/"),
  );
  return texts.join("; ");
}

const ROWS: readonly (readonly [string, (results: readonly CellResult[]) => string])[] = [
  ["FT15 coverage min / med / max; cells >97; width", (cells) => coverageText(cells, "ft15")],
  ["E½ coverage", (cells) => coverageText(cells, "e-half")],
  ["paired t coverage", (cells) => coverageText(cells, "t")],
  ["FT15 max FPR", (cells) => worstFalsePositives(cells, "ft15")],
  ["E½ max FPR", (cells) => worstFalsePositives(cells, "e-half")],
  ["sign-flip max FPR", (cells) => worstFalsePositives(cells, "sign-flip")],
  ["FT15 and sign-flip max FPR", (cells) => worstFalsePositives(cells, "ft15-and-sign-flip")],
  ["E½ and sign-flip max FPR", (cells) => worstFalsePositives(cells, "e-half-and-sign-flip")],
  ["paired t max FPR", (cells) => worstFalsePositives(cells, "t")],
  ["power FT15", (cells) => powerText(cells, "ft15")],
  ["power E½", (cells) => powerText(cells, "e-half")],
  ["power sign-flip", (cells) => powerText(cells, "sign-flip")],
  ["power FT15 and sign-flip", (cells) => powerText(cells, "ft15-and-sign-flip")],
  ["power E½ and sign-flip", (cells) => powerText(cells, "e-half-and-sign-flip")],
];

/** The summary of one kind of cells by number of tasks, as a Markdown table. */
export function summaryTable(results: readonly CellResult[]): string {
  const sizes = [...new Set(results.map(({ cell }) => cell.tasks))].sort((a, b) => a - b);
  const rows = ROWS.map(([name, text]) => [
    name,
    ...sizes.map((tasks) => text(results.filter(({ cell }) => cell.tasks === tasks))),
  ]);
  return table(["", ...sizes.map((tasks) => `n=${tasks}`)], rows).join("\n");
}

const KINDS: readonly (readonly [string, (result: CellResult) => boolean])[] = [
  ["Page grid, all repetitions complete", ({ cell }) => cell.grid === "page" && cell.pattern === "equal"],
  ["Page grid, each pair lost with probability 0.2", ({ cell }) => cell.pattern === "missing"],
  ["Page grid, 1 to r repetitions a task", ({ cell }) => cell.pattern === "mixed"],
  ["Skewed nulls", ({ cell }) => cell.grid === "skewed"],
  ["Held-out grid", ({ cell }) => cell.grid === "held-out"],
];

function shortfallLine({ cell, rule, bar, value, simulations }: Shortfall): string {
  return `${cell}: ${rule} ${bar === "coverage" ? "coverage" : "false positives"} ${percent(value)} % of ${simulations}`;
}

/** Every cell on one line: coverage, width and rejections (false positives where the effect is 0, power elsewhere) of each rule. */
export function cellLines(results: readonly CellResult[]): string {
  const text = ({ simulations, covered, width, rejected }: RuleCounts, hasInterval: boolean) => {
    if (simulations === 0) return ["-", "-", "-"];
    const interval = hasInterval ? [percent(covered / simulations), (width / simulations).toFixed(3)] : ["-", "-"];
    return [...interval, percent(rejected / simulations)];
  };
  const rules = ["ft15", "e-half", "sign-flip", "ft15-and-sign-flip", "e-half-and-sign-flip", "t"] as const;
  const header = ["cell", ...rules.flatMap((rule) => [`${rule}_coverage`, `${rule}_width`, `${rule}_rejected`])];
  const lines = results.map((result) =>
    [cellName(result.cell), ...rules.flatMap((rule) => text(result.rules[rule], rule !== "sign-flip"))].join(","),
  );
  return [header.join(","), ...lines].join("\n");
}

/** The whole result for people: one table a kind of cells, the verdict, and the shortfalls outside the judged cells. */
export function renderCalibration(result: CalibrationResult): string {
  const { verdict, cells, seed, simulations, conservative, size } = result;
  const sections = KINDS.flatMap(([title, belongs]) => {
    const chosen = cells.filter(belongs);
    if (chosen.length === 0) return [];
    const efforts = [
      ...new Set(chosen.map(({ rules }) => `${rules.ft15.simulations} (E½ ${rules["e-half"].simulations})`)),
    ];
    return [`${title}: ${chosen.length} cells, ${efforts.join(", ")} simulations each\n\n${summaryTable(chosen)}\n`];
  });
  const bars = `coverage >= ${percent(BARS.coverage)} % minus and false positives <= ${percent(BARS.falsePositives)} % plus two standard errors`;
  const judged =
    verdict.judgedCells === 0
      ? "No cell of the judged grid was run."
      : `${verdict.passed ? "PASS" : "FAIL"}: ${verdict.judgedCells} cells judged, ${bars}; ${verdict.failures.length} failures.`;
  return [
    `Calibration (${size}), seed ${seed}, ${simulations} simulations a cell, ${conservative} of them with E½.`,
    "Power: smaller / larger effect for each number of repetitions, control mean below 0.9. Widths on the scale -1 to 1.",
    "",
    ...sections,
    judged,
    ...verdict.failures.map((failure) => `  ${shortfallLine(failure)}`),
    `Shortfalls in cells that are not judged: ${verdict.shortfalls.length}`,
    ...verdict.shortfalls.map((shortfall) => `  ${shortfallLine(shortfall)}`),
  ].join("\n");
}
