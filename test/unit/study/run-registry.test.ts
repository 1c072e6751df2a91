import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { thisOwner } from "../../../runner/docker/ownership.ts";
import { tryLockFile } from "../../../runner/evidence/file-lock.ts";
import { openLedger, readLedger } from "../../../runner/evidence/ledger.ts";
import { markDeadRuns, registerRun } from "../../../runner/study/run-registry.ts";

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "registry-"));
});
afterEach(() => rm(root, { recursive: true }));

async function ledgerWith(...events: readonly { type: string; number?: number; attempt?: number }[]): Promise<void> {
  await using ledger = await openLedger(join(root, "ledger.jsonl"));
  for (const event of events) await ledger.append({ ...event });
}

const types = async (): Promise<string[]> =>
  (await readLedger(join(root, "ledger.jsonl"))).lines.map(({ event }) => `${event.type} ${event.number ?? ""}`.trim());

test("an attempt that a dead process had started is marked interrupted at the next start (D1)", async () => {
  await ledgerWith(
    { type: "run-opened" },
    { type: "trial-started", number: 1, attempt: 1 },
    { type: "trial-started", number: 2, attempt: 1 },
    { type: "trial-sealed", number: 1, attempt: 1 },
  );
  await registerRun(root, "run-1", [root], { ...(await thisOwner()), started: "1" });
  const said: string[] = [];
  await markDeadRuns(root, (line) => void said.push(line));
  expect(await types()).toEqual([
    "run-opened",
    "trial-started 1",
    "trial-started 2",
    "trial-sealed 1",
    "trial-interrupted 2",
    "run-cut-off",
  ]);
  expect(said).toEqual([`run run-1 was cut off: 1 attempts in ${root} are marked interrupted`]);
  expect(await readdir(join(root, ".runner", "runs"))).toEqual([]);
});

test("a dead run that somebody is resuming is left to whoever resumes it, and marking it twice adds nothing", async () => {
  await ledgerWith({ type: "run-opened" }, { type: "trial-started", number: 1, attempt: 1 });
  await registerRun(root, "run-1", [root], { ...(await thisOwner()), started: "1" });
  {
    await using lock = await tryLockFile(join(root, "ledger.jsonl"));
    expect(lock).not.toBeNull();
    await markDeadRuns(root, () => undefined);
    expect(await types()).toEqual(["run-opened", "trial-started 1"]);
    expect(await readdir(join(root, ".runner", "runs"))).toEqual(["run-1.json"]);
  }
  const marked = ["run-opened", "trial-started 1", "trial-interrupted 1", "run-cut-off"];
  for (const _ of [1, 2]) {
    await registerRun(root, "run-1", [root], { ...(await thisOwner()), started: "1" });
    await markDeadRuns(root, () => undefined);
    expect(await types()).toEqual(marked);
  }
});

test("a run whose process lives is left alone, and its note goes when it ends", async () => {
  await ledgerWith({ type: "run-opened" }, { type: "trial-started", number: 1, attempt: 1 });
  {
    await using _run = await registerRun(root, "run-2", [root], await thisOwner());
    await markDeadRuns(root, () => undefined);
    expect(await types()).toEqual(["run-opened", "trial-started 1"]);
  }
  expect(await readdir(join(root, ".runner", "runs"))).toEqual([]);
});
