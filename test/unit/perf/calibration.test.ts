import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCalibration } from "../../../runner/perf/calibration.ts";
import type { CellResult, RuleCounts } from "../../../runner/perf/calibration-cell.ts";
import { RULES, simulateCell } from "../../../runner/perf/calibration-cell.ts";
import type { CellSpec } from "../../../runner/perf/calibration-grid.ts";
import { besideCells, cellName, heldOutCells, pageCells, smallCells } from "../../../runner/perf/calibration-grid.ts";
import { drawPopulation } from "../../../runner/perf/calibration-population.ts";
import { cellLines, renderCalibration } from "../../../runner/perf/calibration-report.ts";
import { judgeCalibration } from "../../../runner/perf/calibration-verdict.ts";

const CELL: CellSpec = {
  grid: "page",
  population: { spread: { kind: "logit-normal", deviation: 2 }, mean: 0.5, delta: 0.2, tau: 1 },
  tasks: 20,
  repetitions: 3,
  pattern: "equal",
};

function mean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function share(count: number, counts: RuleCounts): number {
  return count / counts.simulations;
}

/** Every rule with the same counts. */
function result(cell: CellSpec, covered: number, rejected: number, simulations = 10_000): CellResult {
  const counts: RuleCounts = { simulations, covered, rejected, wrongSign: 0, width: simulations / 2 };
  return {
    cell,
    rules: {
      ft15: counts,
      t: counts,
      "sign-flip": counts,
      "ft15-and-sign-flip": counts,
      "e-half": counts,
      "e-half-and-sign-flip": counts,
    },
  };
}

test("the grids have 576 judged and 960 held-out cells, each with a name of its own", () => {
  const grids = [pageCells(), besideCells(), heldOutCells(), smallCells()];
  expect(grids.map((cells) => cells.length)).toEqual([576, 36 + 576 + 384, 960, 96 + 2 + 32]);
  for (const cells of grids) expect(new Set(cells.map(cellName)).size).toBe(cells.length);
  expect(heldOutCells().filter(({ population }) => population.delta === 0)).toHaveLength(480);
});

describe("A population", () => {
  test.each([
    { spread: { kind: "logit-normal", deviation: 2 }, mean: 0.2, delta: 0.1, tau: 1 },
    { spread: { kind: "beta", total: 1 }, mean: 0.97, delta: -0.2, tau: 1 },
    { spread: { kind: "beta", total: 0.5 }, mean: 0.35, delta: 0, tau: 3 },
    { spread: { kind: "rare-gain" }, mean: 0.1, delta: 0, tau: 0 },
    { spread: { kind: "rare-loss" }, mean: 0.95, delta: 0, tau: 0 },
  ] as const)("has the mean and the exact difference asked for (%o)", (spec) => {
    const { control, treatment } = drawPopulation(spec, "test", 20_000);
    expect(Math.abs(mean(treatment) - mean(control) - spec.delta)).toBeLessThan(1e-9);
    // Five standard errors of the mean of 20,000 probabilities.
    expect(Math.abs(mean(control) - spec.mean)).toBeLessThan(5 * Math.sqrt(0.25 / 20_000));
    expect(control.every((p) => p >= 0 && p <= 1) && treatment.every((p) => p >= 0 && p <= 1)).toBe(true);
    expect(drawPopulation(spec, "test", 20_000)).toEqual({ control, treatment });
  });

  test("without effect has the same probabilities on both sides", () => {
    const { control, treatment } = drawPopulation({ ...CELL.population, delta: 0, tau: 0 }, "test", 1_000);
    expect(treatment).toEqual(control);
  });
});

describe("A simulated cell", () => {
  const effort = { simulations: 4_000, conservative: 400 };
  const population = drawPopulation(CELL.population, "test", 50_000);

  test("covers and decides as often as the reference tables say", () => {
    const { rules } = simulateCell(CELL, population, effort, "test");
    const { ft15, t, "sign-flip": flip, "ft15-and-sign-flip": joint, "e-half": half } = rules;
    // Reference for 20 tasks, 3 repetitions, +0.2: power of FT15 77, sign-flip 66, E½ 56 over three means; at this mean a little lower.
    expect(share(ft15.covered, ft15)).toBeGreaterThan(0.94);
    expect(Math.abs(share(t.covered, t) - 0.95)).toBeLessThan(0.02);
    expect(Math.abs(share(ft15.rejected, ft15) - 0.72)).toBeLessThan(0.1);
    expect(Math.abs(share(flip.rejected, flip) - 0.65)).toBeLessThan(0.1);
    expect(joint.rejected).toBeLessThanOrEqual(Math.min(ft15.rejected, flip.rejected));
    expect(share(half.covered, half)).toBeGreaterThan(0.97);
    expect(half.simulations).toBe(400);
    expect(joint.wrongSign).toBeLessThan(10);
  });

  test.each(["missing", "mixed"] as const)("still covers with %s repetitions", (pattern) => {
    const { rules } = simulateCell({ ...CELL, pattern }, population, { simulations: 2_000, conservative: 0 }, "test");
    expect(share(rules.ft15.covered, rules.ft15)).toBeGreaterThan(0.93);
    expect(rules["e-half"].simulations).toBe(0);
  });

  test("is the same for the same seed and another for another", () => {
    const once = simulateCell(CELL, population, { simulations: 300, conservative: 30 }, "a");
    expect(simulateCell(CELL, population, { simulations: 300, conservative: 30 }, "a")).toEqual(once);
    expect(simulateCell(CELL, population, { simulations: 300, conservative: 30 }, "b")).not.toEqual(once);
  });

  test("claims nothing where fewer than two tasks are left", () => {
    const cell: CellSpec = { ...CELL, tasks: 2, repetitions: 1, pattern: "missing" };
    const { rules } = simulateCell(cell, population, { simulations: 500, conservative: 100 }, "test");
    expect(rules["ft15-and-sign-flip"].rejected).toBe(0);
    expect(rules.ft15.width / 500).toBeGreaterThan(1.5);
  });
});

describe("The verdict of a calibration", () => {
  const nullCell: CellSpec = { ...CELL, population: { ...CELL.population, delta: 0 } };

  test("fails on too little coverage and too many false positives beyond two standard errors, in judged cells only", () => {
    // Two standard errors of 10,000 simulations: 0.47 points at 94 %, 0.46 points at 5.5 %.
    const cells = [
      result(CELL, 9_353, 9_000),
      result(CELL, 9_352, 9_000),
      result(nullCell, 9_500, 595),
      result(nullCell, 9_500, 596),
      result({ ...nullCell, pattern: "missing" }, 9_000, 800),
      result({ ...nullCell, grid: "skewed" }, 9_500, 300),
    ];
    const { passed, judgedCells, failures, shortfalls } = judgeCalibration(cells);
    expect({ passed, judgedCells }).toEqual({ passed: false, judgedCells: 4 });
    expect(failures.map(({ bar, value }) => [bar, value])).toEqual([
      ["coverage", 0.9352],
      ["coverage", 0.9352],
      ["falsePositives", 0.0596],
      ["falsePositives", 0.0596],
    ]);
    expect(shortfalls.map(({ bar, value }) => [bar, value])).toEqual([
      ["coverage", 0.9],
      ["falsePositives", 0.08],
      ["coverage", 0.9],
      ["falsePositives", 0.08],
    ]);
    expect(judgeCalibration([result(CELL, 9_500, 9_000)]).passed).toBe(true);
  });

  test("judges no rule that was not simulated", () => {
    expect(judgeCalibration([result(CELL, 0, 0, 0)]).failures).toEqual([]);
  });
});

describe("A run", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "calibration-"));
    await build({
      entryPoints: ["runner/perf/calibration-worker.ts"],
      bundle: true,
      platform: "node",
      format: "esm",
      outfile: join(folder, "worker.mjs"),
      banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
      logLevel: "error",
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  test("gives the same figures in worker threads and without, reports each cell, and renders as tables", async () => {
    const options = { simulations: 20, conservative: 2, seed: "run", populationRows: 2_000 } as const;
    const seen: number[] = [];
    const here = await runCalibration(options, ({ done, total }) => seen.push(done / total));
    const there = await runCalibration({
      ...options,
      workers: { url: pathToFileURL(join(folder, "worker.mjs")), count: 2 },
    });
    expect(there).toEqual(here);
    expect(seen).toEqual(here.cells.map((_, index) => (index + 1) / 130));
    expect(here.cells.map(({ cell }) => cellName(cell))).toEqual(smallCells().map(cellName));
    expect(renderCalibration(here)).toMatchSnapshot();
    const lines = cellLines(here.cells).split("\n");
    expect(lines).toHaveLength(131);
    expect(lines.slice(0, 2)).toMatchSnapshot();
    expect(RULES).toHaveLength(6);
  });

  test("stops when aborted, in worker threads too", async () => {
    const workers = { url: pathToFileURL(join(folder, "worker.mjs")), count: 2 };
    for (const where of [{}, { workers }]) {
      const controller = new AbortController();
      const run = runCalibration(
        { ...where, simulations: 50, conservative: 0, populationRows: 2_000, signal: controller.signal },
        () => controller.abort(new Error("enough")),
      );
      await expect(run).rejects.toThrow("enough");
    }
  });

  test("fails with the worker's error", async () => {
    const url = pathToFileURL(join(folder, "absent.mjs"));
    await expect(runCalibration({ workers: { url, count: 1 } })).rejects.toThrow("absent.mjs");
  });

  test("refuses numbers of simulations that are none", async () => {
    await expect(runCalibration({ simulations: 0 })).rejects.toThrow(
      "Expected simulations to be a whole number from 1, got 0",
    );
    await expect(runCalibration({ conservative: -1 })).rejects.toThrow(
      "Expected conservative to be a whole number from 0",
    );
  });
});
