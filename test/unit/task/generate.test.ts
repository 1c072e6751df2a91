import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { generateTasks, generatorFamilies } from "../../../runner/task/generate.ts";
import { lintDataset } from "../../../runner/task/lint/lint-dataset.ts";
import { loadDataset } from "../../../runner/task/load-dataset.ts";

const projectRoot = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));
let out: string;

beforeEach(async () => {
  out = await mkdtemp(join(tmpdir(), "generate-"));
});
afterEach(() => rm(out, { recursive: true, force: true }));

describe("generating tasks", () => {
  it("knows the families that the dataset is made of", async () => {
    const known = await generatorFamilies(projectRoot);
    const { tasks } = await loadDataset(join(projectRoot, "tasks"));
    expect([...new Set(tasks.map(({ metadata }) => metadata.family))].sort()).toEqual(known);
  });

  it("writes bundles that prove themselves, load, and pass the linter", { timeout: 120_000 }, async () => {
    const made = await generateTasks({ projectRoot, family: "negative-control", seed: "a test's seed", out, count: 2 });
    expect(made.tasks.map(({ faults }) => faults)).toEqual([[], []]);
    expect((await readdir(out)).sort()).toEqual(made.tasks.map(({ task }) => task).sort());
    const { tasks } = await loadDataset(out);
    expect(tasks.map(({ metadata }) => metadata.contamination)).toEqual(["held-out", "held-out"]);
    const linted = await lintDataset(out);
    expect(linted.flatMap(({ findings }) => findings)).toEqual([]);
  });

  it("refuses a family that does not exist and names those that do", async () => {
    await expect(generateTasks({ projectRoot, family: "sudoku", seed: "s", out, count: 1 })).rejects.toMatchObject({
      code: "UNKNOWN_FAMILY",
      hint: expect.stringContaining("direction-ledger"),
    });
  });

  it("refuses to write over a bundle, and keeps it", { timeout: 120_000 }, async () => {
    const request = { projectRoot, family: "negative-control", seed: "again", out, count: 1 };
    await generateTasks(request);
    await expect(generateTasks(request)).rejects.toMatchObject({
      code: "GENERATE_FAILED",
      message: expect.stringContaining("exists already"),
    });
    expect(await readdir(out)).toHaveLength(1);
  });
});
