import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestFile } from "../../../runner/base/digest.ts";
import { surfaceDigest } from "../../../runner/base/formats/surface.ts";
import { loadCassettes } from "../../../runner/study/cassettes.ts";
import { readSurface } from "../../../runner/study/plan-surface.ts";
import { taskFiles } from "../../../runner/study/regression-inputs.ts";
import { readRegressionLock } from "../../../runner/study/regression-lock.ts";
import { besideLock } from "../../../runner/study/regression-run.ts";
import { loadStudy } from "../../../runner/study/study-file.ts";
import { loadDataset } from "../../../runner/task/load-dataset.ts";

const FOLDER = join(import.meta.dirname, "../../../benchmarks/regression");
const AGAIN = "make it again: runner freeze --study benchmarks/config/demo.json --out benchmarks/regression/demo.json";

test("every committed lock holds what the project's files are now, so that a regress of it starts without drift", async () => {
  const names = await readdir(FOLDER);
  expect(names).toEqual(["demo.json"]);
  for (const name of names) {
    const file = join(FOLDER, name);
    const lock = await readRegressionLock(file);
    const { tasks } = await loadDataset(besideLock(file, lock.dataset));
    for (const [id, locked] of Object.entries(lock.tasks)) {
      const task = tasks.find((one) => one.id === id);
      expect(task, `${id} is gone; ${AGAIN}`).toBeDefined();
      if (task !== undefined) expect(await taskFiles(task), `${id} changed; ${AGAIN}`).toEqual(locked.files);
      // What a lock expects is what makes a task valid.
      const rewards = Object.entries(locked.outcomes).map(([who, { reward }]) => [who, reward]);
      expect(rewards).toEqual(rewards.map(([who]) => [who, who === "oracle" ? 1 : 0]));
    }
    if (lock.study === null) continue;
    const study = await loadStudy(besideLock(file, lock.study.path));
    expect(await digestFile(study.path), `the study changed; ${AGAIN}`).toBe(lock.study.digest);
    const surface = await readSurface(study.resolve(study.study.conditions.treatment.mcp.surface));
    expect(surfaceDigest(surface), `the locked surface changed; ${AGAIN}`).toBe(lock.study.server.surface);
    const cassettes = await loadCassettes(study.resolve(study.study.model?.replay ?? ""));
    const digests = cassettes.map(({ digest }) => digest);
    for (const digest of Object.values(lock.study.cassettes)) expect(digests, AGAIN).toContain(digest);
  }
});
