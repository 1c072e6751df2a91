import type { CellResult, Rule, RuleCounts } from "./calibration-cell.ts";
import { cellName } from "./calibration-grid.ts";

/** What a rule must reach in the 576 cells, each with two standard errors of the simulation. */
export const BARS = { coverage: 0.94, falsePositives: 0.055 } as const;

/** The rules that a plan can choose; the parts and the plain t interval are shown beside them. */
const JUDGED: readonly Rule[] = ["ft15-and-sign-flip", "e-half-and-sign-flip"];

/** A cell in which a rule misses a bar. */
export interface Shortfall {
  readonly cell: string;
  readonly rule: Rule;
  readonly bar: keyof typeof BARS;
  readonly value: number;
  readonly simulations: number;
}

export interface CalibrationVerdict {
  readonly passed: boolean;
  /** Cells of the page's grid that were judged. */
  readonly judgedCells: number;
  /** In the page's grid: each one fails the calibration. */
  readonly failures: readonly Shortfall[];
  /** In every other cell: known limits, shown and not judged. */
  readonly shortfalls: readonly Shortfall[];
}

/** Two standard errors of a simulated share. */
export function twoErrors(share: number, simulations: number): number {
  return 2 * Math.sqrt((share * (1 - share)) / simulations);
}

function shortfallsOf(result: CellResult, rule: Rule, counts: RuleCounts): Shortfall[] {
  const { simulations } = counts;
  if (simulations === 0) return [];
  const found: Shortfall[] = [];
  const cell = cellName(result.cell);
  const coverage = counts.covered / simulations;
  if (coverage < BARS.coverage - twoErrors(BARS.coverage, simulations)) {
    found.push({ cell, rule, bar: "coverage", value: coverage, simulations });
  }
  const rejected = counts.rejected / simulations;
  if (
    result.cell.population.delta === 0 &&
    rejected > BARS.falsePositives + twoErrors(BARS.falsePositives, simulations)
  ) {
    found.push({ cell, rule, bar: "falsePositives", value: rejected, simulations });
  }
  return found;
}

/** Judges the page's cells against the bars and lists the shortfalls of all others. */
export function judgeCalibration(cells: readonly CellResult[]): CalibrationVerdict {
  const isJudged = ({ cell }: CellResult) => cell.grid === "page" && cell.pattern === "equal";
  const of = (results: readonly CellResult[]) =>
    results.flatMap((result) => JUDGED.flatMap((rule) => shortfallsOf(result, rule, result.rules[rule])));
  const judged = cells.filter(isJudged);
  const failures = of(judged);
  const shortfalls = of(cells.filter((result) => !isJudged(result)));
  return { passed: judged.length === 0 || failures.length === 0, judgedCells: judged.length, failures, shortfalls };
}
