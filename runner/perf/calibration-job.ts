import { isObject } from "../base/json.ts";
import type { CellEffort, CellResult } from "./calibration-cell.ts";
import { simulateCell } from "./calibration-cell.ts";
import type { CellSpec } from "./calibration-grid.ts";
import { populationName } from "./calibration-grid.ts";
import { drawPopulation } from "./calibration-population.ts";

/** Cells of one population, which is drawn once for all of them. */
export interface CalibrationJob {
  readonly kind: "calibration-job";
  readonly cells: readonly CellSpec[];
  readonly efforts: readonly CellEffort[];
  readonly seed: string;
  /** Tasks in the population. */
  readonly rows: number;
}

/** Tells a job from any other message. */
export function isCalibrationJob(message: unknown): message is CalibrationJob {
  return isObject(message) && message.kind === "calibration-job";
}

/** Groups cells by population; the result does not depend on how jobs are shared out. */
export function calibrationJobs(
  cells: readonly CellSpec[],
  effortOf: (cell: CellSpec) => CellEffort,
  { seed, rows }: Pick<CalibrationJob, "seed" | "rows">,
): CalibrationJob[] {
  const groups = new Map<string, CellSpec[]>();
  for (const cell of cells) {
    const name = populationName(cell.population);
    groups.set(name, [...(groups.get(name) ?? []), cell]);
  }
  return [...groups.values()].map((group) => ({
    kind: "calibration-job",
    cells: group,
    efforts: group.map(effortOf),
    seed,
    rows,
  }));
}

/** Simulates the cells of a job one after the other. */
export function* runJob(job: CalibrationJob): Generator<CellResult> {
  const [first] = job.cells;
  if (first === undefined) return;
  const population = drawPopulation(first.population, job.seed, job.rows);
  for (const [index, cell] of job.cells.entries()) {
    const effort = job.efforts[index];
    if (effort !== undefined) yield simulateCell(cell, population, effort, job.seed);
  }
}
