import { existsSync } from "node:fs";
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory } from "../base/durable.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { BUNDLE, requireEmpty } from "../evidence/bundle.ts";
import { tryLockFile } from "../evidence/file-lock.ts";
import { readLedger } from "../evidence/ledger.ts";
import { CONDITIONS } from "./order.ts";

/** What a durable write leaves when its process dies before the rename. */
const TEMPORARY = /^\.[0-9a-f-]{36}\.tmp$/;

/**
 * Looks whether an output folder is fit for a new run: it must be absent or empty, or hold only what a run left that was killed before it
 * opened. Nothing is changed.
 * @throws RunnerError `OUT_NOT_EMPTY`, `OUT_UNWRITABLE`.
 */
export async function requireFit(out: string): Promise<void> {
  if ((await unbegunIn(out)).length === 0) await requireEmpty(out);
}

/**
 * Takes an output folder for a new run of this process alone, until it is disposed. What a run left there that was killed before it opened
 * is cleared away: it has begun no trial, so nothing of it is evidence. A folder that was made here goes again when nothing came into it. The
 * kernel holds the lock and gives it up when this process dies.
 * @throws RunnerError `OUT_NOT_EMPTY`, `OUT_UNWRITABLE`, `RUN_BUSY` when another process has the folder.
 */
export async function takeFolder(out: string): Promise<AsyncDisposable> {
  await requireFit(out);
  const absent = !existsSync(out);
  await makeDirectory(out).catch((cause: unknown) => {
    throw new RunnerError("usage", "OUT_UNWRITABLE", `cannot make the output folder ${out}: ${messageOf(cause)}`, {
      hint: "Pass another folder with --out.",
      cause,
    });
  });
  // A process that was killed a moment ago takes some milliseconds to let go.
  const lock = await tryLockFile(out, 2);
  if (lock === null) {
    throw new RunnerError("refused", "RUN_BUSY", `another process is about to run in ${out}`, {
      hint: "Wait until it has ended, or pass another folder with --out: evidence of two runs is never mixed.",
    });
  }
  try {
    for (const name of await unbegunIn(out)) await rm(join(out, name), { recursive: true, force: true });
    await requireEmpty(out);
    return {
      [Symbol.asyncDispose]: async () => {
        // A run that was refused leaves nothing, not even the folder.
        if (absent) await rmdir(out).catch(() => undefined);
        await lock[Symbol.asyncDispose]();
      },
    };
  } catch (thrown) {
    await lock[Symbol.asyncDispose]();
    throw thrown;
  }
}

/** The names in a folder where all of them are what an unbegun run left; none otherwise. */
async function unbegunIn(out: string): Promise<readonly string[]> {
  const names = await readdir(out).catch(() => []);
  const sides = names.filter((name) => CONDITIONS.some((condition) => condition === name));
  const pair = sides.length > 0 && sides.length === names.length;
  const unbegun = pair
    ? (await Promise.all(sides.map((side) => isUnbegun(join(out, side))))).every(Boolean)
    : names.length > 0 && (await isUnbegun(out));
  return unbegun ? names : [];
}

/** Removes what interrupted durable writes left in a folder. */
export async function removeTemporaries(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => []))
    if (TEMPORARY.test(name)) await rm(join(dir, name), { force: true });
}

/** A bundle that was being made: its own files and no others, no report, and no whole line in its ledger. */
async function isUnbegun(dir: string): Promise<boolean> {
  const own = new Set<string>([BUNDLE.plan, BUNDLE.ledger, "objects"]);
  const names = await readdir(dir).catch(() => null);
  if (names === null || !names.every((name) => own.has(name) || TEMPORARY.test(name))) return false;
  // A folder of a plan has no ledger, and no bundle has its plan before its ledger, or anything in its store.
  if (!names.includes(BUNDLE.ledger)) return !names.includes(BUNDLE.plan) && (await isBare(join(dir, "objects")));
  return (await readLedger(join(dir, BUNDLE.ledger))).lines.length === 0;
}

/** A store that nothing was put into, or none at all. */
async function isBare(objects: string): Promise<boolean> {
  const entries = await readdir(objects, { recursive: true }).catch((thrown: unknown) => {
    if (hasCode(thrown, "ENOENT")) return [];
    throw thrown;
  });
  return entries.every((name) => name === "tmp");
}
