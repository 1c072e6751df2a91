import { lstat, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, messageOf } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Engine } from "../docker/engine.ts";
import { isAlive, type Owner, thisOwner } from "../docker/ownership.ts";
import { type Reaped, reap } from "../docker/reap.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { tryLockFile } from "../evidence/file-lock.ts";
import { openLedger, readLedger } from "../evidence/ledger.ts";
import { markCutOff } from "./cut-off.ts";
import { stateDirOf } from "./task-images.ts";

const entrySchema = z.strictObject({
  schemaVersion: z.literal("1"),
  runId: z.string(),
  /** Absolute folders of the run's bundles. */
  dirs: z.array(z.string()),
  owner: z.strictObject({ machine: z.string(), boot: z.string(), pid: z.int(), started: z.string() }),
});

/** Notes that a run is under way, until it is disposed; a note whose process is dead is a run that was cut off. */
export async function registerRun(
  projectRoot: string,
  runId: string,
  dirs: readonly string[],
  owner: Owner,
): Promise<AsyncDisposable> {
  const folder = folderOf(projectRoot);
  await mkdir(folder, { recursive: true });
  await makeDirectory(folder);
  const path = join(folder, `${runId}.json`);
  await writeDurably(path, canonicalBytes({ schemaVersion: "1", runId, dirs, owner: { ...owner } }));
  return { [Symbol.asyncDispose]: () => rm(path, { force: true }) };
}

/**
 * What every start does first: removes the containers, networks, volumes and snapshots of dead runs of this machine, and writes into
 * their ledgers which attempts were interrupted.
 */
export async function cleanUpDeadRuns(
  engine: Engine,
  projectRoot: string,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly Reaped[]> {
  const removed = await reap(engine, { report, signal });
  await markDeadRuns(projectRoot, report);
  return removed;
}

/** The part of {@link cleanUpDeadRuns} that needs no engine: the ledgers of runs whose process is dead. */
export async function markDeadRuns(projectRoot: string, report: (line: string) => void): Promise<void> {
  const here = await thisOwner();
  const folder = folderOf(projectRoot);
  const names = await readdir(folder).catch((thrown: unknown) => {
    if (hasCode(thrown, "ENOENT")) return [];
    throw thrown;
  });
  for (const name of names.filter((entry) => entry.endsWith(".json"))) {
    const path = join(folder, name);
    const entry = parseInput(entrySchema, parseStrictJson(await readFile(path), { source: path }), path);
    if (await isAlive(entry.owner, here)) continue;
    let taken = false;
    for (const dir of entry.dirs) {
      try {
        const count = await markLedger(join(dir, BUNDLE.ledger));
        if (count === null) taken = true;
        else if (count > 0)
          report(`run ${entry.runId} was cut off: ${count} attempts in ${dir} are marked interrupted`);
      } catch (thrown) {
        // The bundle may have been moved or deleted since; its ledger is then nobody's to mend.
        report(`run ${entry.runId} was cut off, and its ledger in ${dir} cannot be marked: ${messageOf(thrown)}`);
      }
    }
    // A run that is being resumed has its note rewritten by whoever resumes it.
    if (!taken) await rm(path, { force: true });
  }
}

/**
 * Marks what a dead run had begun; null when another process is at work in the bundle, which then answers for it.
 */
async function markLedger(path: string): Promise<number | null> {
  if (((await lstat(path).catch(() => null))?.size ?? 0) === 0) return 0;
  await using lock = await tryLockFile(path);
  if (lock === null) return null;
  await using ledger = await openLedger(path);
  return await markCutOff(ledger, (await readLedger(path)).lines);
}

function folderOf(projectRoot: string): string {
  return join(stateDirOf(projectRoot), "runs");
}
