import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { isObject } from "../base/json.ts";
import type { CellEffort, CellResult } from "./calibration-cell.ts";
import type { CellSpec } from "./calibration-grid.ts";
import { besideCells, cellName, heldOutCells, pageCells, smallCells } from "./calibration-grid.ts";
import type { CalibrationJob } from "./calibration-job.ts";
import { calibrationJobs, runJob } from "./calibration-job.ts";
import type { CalibrationVerdict } from "./calibration-verdict.ts";
import { judgeCalibration } from "./calibration-verdict.ts";

export interface CalibrationOptions {
  /** `small`: a sample of all kinds of cells; `whole`: the 576 cells and those beside them; `held-out`: the 960 other cells. */
  readonly size?: "small" | "whole" | "held-out";
  /** Simulations of each of the 576 cells (whole) or of every cell (otherwise); cells beside them get a fifth of it. */
  readonly simulations?: number;
  /** Simulations of E½ among them; 0 leaves it out. */
  readonly conservative?: number;
  readonly seed?: string;
  /** Tasks in each population, 200,000 by default. */
  readonly populationRows?: number;
  /** Where the bundled worker is, and how many to start; without it everything runs in this thread. */
  readonly workers?: { readonly url: URL; readonly count: number };
  readonly signal?: AbortSignal;
}

/** Told after each cell. */
export interface CalibrationProgress {
  readonly done: number;
  readonly total: number;
  readonly result: CellResult;
}

export interface CalibrationResult {
  readonly size: NonNullable<CalibrationOptions["size"]>;
  readonly seed: string;
  readonly simulations: number;
  readonly conservative: number;
  /** In the order of the grid. */
  readonly cells: readonly CellResult[];
  readonly verdict: CalibrationVerdict;
}

const DEFAULTS = { small: [2_000, 200], whole: [20_000, 2_000], "held-out": [8_000, 1_000] } as const;

function cellsOf(size: CalibrationResult["size"]): CellSpec[] {
  if (size === "small") return smallCells();
  return size === "whole" ? [...pageCells(), ...besideCells()] : heldOutCells();
}

/** Runs jobs in worker threads, each taking the next job when it is free. Rejects on the first failure and stops all of them. */
async function runInWorkers(
  jobs: readonly CalibrationJob[],
  { url, count }: NonNullable<CalibrationOptions["workers"]>,
  signal: AbortSignal | undefined,
  take: (result: CellResult) => void,
): Promise<void> {
  const queue = [...jobs];
  const workers: Worker[] = [];
  const serve = () =>
    new Promise<void>((resolve, reject) => {
      const worker = new Worker(url);
      workers.push(worker);
      const next = () => {
        const job = queue.shift();
        if (job === undefined) resolve();
        else worker.postMessage(job);
      };
      worker.on("message", (message: unknown) => {
        if (isObject(message) && "result" in message) take(message.result as CellResult);
        else next();
      });
      worker.on("error", reject);
      worker.on("exit", () => reject(new Error("A calibration worker ended before its work was done")));
      signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
      next();
    });
  try {
    await Promise.all(Array.from({ length: Math.min(count, jobs.length) }, serve));
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

async function runHere(
  jobs: readonly CalibrationJob[],
  signal: AbortSignal | undefined,
  take: (result: CellResult) => void,
) {
  for (const job of jobs) {
    for (const result of runJob(job)) {
      take(result);
      await setImmediate();
      signal?.throwIfAborted();
    }
  }
}

/**
 * Simulates how the paired analysis behaves where the truth is known: coverage, width, false positives and power of FT15, E½, the sign-flip
 * test and the joint rules, through the functions that studies use. The result depends on the seed and the numbers of simulations alone.
 * @throws the signal's reason when aborted.
 */
export async function runCalibration(
  options: CalibrationOptions = {},
  report: (progress: CalibrationProgress) => void = () => {},
): Promise<CalibrationResult> {
  const { size = "small", seed = "calibration-1", signal } = options;
  signal?.throwIfAborted();
  const { simulations = DEFAULTS[size][0], conservative = DEFAULTS[size][1], populationRows = 200_000 } = options;
  for (const [name, value, least] of [
    ["simulations", simulations, 1],
    ["conservative", conservative, 0],
    ["populationRows", populationRows, 1],
  ] as const) {
    if (!Number.isSafeInteger(value) || value < least) {
      throw new RangeError(`Expected ${name} to be a whole number from ${least}, got ${value}`);
    }
  }
  const cells = cellsOf(size);
  const effortOf = (cell: CellSpec): CellEffort => {
    const beside = size === "whole" && (cell.grid !== "page" || cell.pattern !== "equal");
    const share = beside ? 5 : 1;
    return { simulations: Math.ceil(simulations / share), conservative: Math.ceil(conservative / share) };
  };
  const results = new Map<string, CellResult>();
  const take = (result: CellResult) => {
    results.set(cellName(result.cell), result);
    report({ done: results.size, total: cells.length, result });
  };
  const jobs = calibrationJobs(cells, effortOf, { seed, rows: populationRows });
  if (options.workers === undefined) await runHere(jobs, signal, take);
  else await runInWorkers(jobs, options.workers, signal, take);
  const ordered = cells.flatMap((cell) => results.get(cellName(cell)) ?? []);
  return { size, seed, simulations, conservative, cells: ordered, verdict: judgeCalibration(ordered) };
}
