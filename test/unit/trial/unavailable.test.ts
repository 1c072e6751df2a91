import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { openStore } from "../../../runner/evidence/store.ts";
import { loadTask } from "../../../runner/task/load-task.ts";
import { runTrial } from "../../../runner/trial/run-trial.ts";
import type { TrialWorld } from "../../../runner/trial/world.ts";
import { PROJECT_ROOT } from "../../support/runner.ts";

test("a task whose image could not be made is infra_error, and nothing is started for it (D6)", async () => {
  const dir = await mkdtemp(join(tmpdir(), "unavailable-"));
  try {
    let now = 0;
    const tick = (): number => {
      now += 7;
      return now;
    };
    // Without an engine: whatever asked for one would fail.
    const world = {
      runId: "run",
      store: await openStore(dir),
      clock: { micros: tick, wall: () => "2026-11-30T00:00:00.000Z" },
    } as unknown as TrialWorld;
    const image = {
      id: digestBytes("inputs"),
      inputDigest: digestBytes("inputs"),
      env: [],
      workdir: "/app",
      user: null,
    };
    const record = await runTrial(
      world,
      {
        number: 3,
        attempt: 1,
        task: await loadTask(join(PROJECT_ROOT, "tasks", "parity-sum-01")),
        taskDigest: digestBytes("task"),
        condition: "control",
        repetition: 1,
        agent: { kind: "nop" },
        environment: image,
        verifiers: [image],
        model: null,
        mcp: null,
        budgets: null,
        hostVariables: {},
        unavailable: { code: "DISK_FULL", detail: "no space left on device" },
        gradings: 1,
        record: null,
      },
      null,
      new AbortController().signal,
    );
    expect(record).toEqual({
      schemaVersion: "1",
      number: 3,
      attempt: 1,
      task: "parity-sum-01",
      taskDigest: digestBytes("task"),
      condition: "control",
      repetition: 1,
      agent: { name: "nop", version: null },
      modelSource: "none",
      outcome: "infra_error",
      cause: { code: "DISK_FULL", detail: "no space left on device" },
      reward: null,
      rewards: null,
      steps: [],
      images: {},
      gateway: null,
      elapsed: { total: 7 },
      observations: [],
      startedAt: "2026-11-30T00:00:00.000Z",
      finishedAt: "2026-11-30T00:00:00.000Z",
    });
  } finally {
    await rm(dir, { recursive: true });
  }
});
