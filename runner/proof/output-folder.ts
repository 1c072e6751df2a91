import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { requireSame } from "./manifest.ts";
import { FILES, type PreparedRun, recordPath } from "./request.ts";
import { takeLock } from "./run-lock.ts";
import type { ProofRecord } from "./terms.ts";

/** Names of files that are being written: they get their own names when they are whole. */
const TEMPORARY = /^\.[0-9a-z_.-]+\.tmp$/;

/**
 * Takes an output folder for a run: a new one, or with --resume the one of exactly this run. Disposing gives the folder's lock back.
 * @throws RunnerError `OUTPUT_EXISTS`, `NOTHING_TO_RESUME`, `OUTPUT_NOT_EMPTY`, `RESUME_CHANGED`, `RUN_LOCKED`, `RECORDS_FOREIGN`.
 */
export async function takeOutputFolder(run: PreparedRun): Promise<AsyncDisposable> {
  const { output } = run.request;
  await requireOurs(run);
  await makeDirectory(output);
  const lock = await takeLock(join(output, FILES.lock));
  try {
    // Another process may have begun a run between the first look and the lock.
    await requireOurs(run);
    await mkdir(join(output, FILES.records), { recursive: true });
    await removeLeftovers(output);
    await removeLeftovers(join(output, FILES.records));
    await writeDurably(join(output, FILES.manifest), pretty(run.manifest));
    await writeDurably(join(output, FILES.budget), pretty(run.budget));
    await requireKnownRecords(run);
    return lock;
  } catch (thrown) {
    await lock[Symbol.asyncDispose]();
    throw thrown;
  }
}

async function requireOurs(run: PreparedRun): Promise<void> {
  const { output, resume } = run.request;
  const path = join(output, FILES.manifest);
  const before = await readFile(path).catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT") || hasCode(cause, "ENOTDIR")) return null;
    throw cause;
  });
  if (before !== null) {
    if (!resume) {
      throw new RunnerError("refused", "OUTPUT_EXISTS", `${output} holds a run already`, {
        hint: "Continue that run with --resume, or choose a new --output folder.",
      });
    }
    requireSame(parseStrictJson(before, { source: path }), run.manifest, output);
    return;
  }
  if (resume) {
    throw new RunnerError("refused", "NOTHING_TO_RESUME", `${output} holds no run: there is no manifest.json in it`, {
      hint: "Give the --output of the run to go on with, or leave --resume out to begin one.",
    });
  }
  const names = await readdir(output).catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT")) return [];
    if (!hasCode(cause, "ENOTDIR")) throw cause;
    throw new RunnerError("usage", "OUTPUT_NO_FOLDER", `${output} is no folder`, {
      hint: "Choose another --output.",
      cause,
    });
  });
  const foreign = names.filter((name) => !name.startsWith(FILES.lock) && !TEMPORARY.test(name));
  if (foreign.length > 0) {
    throw new RunnerError(
      "refused",
      "OUTPUT_NOT_EMPTY",
      `${output} is not empty and holds no run: ${foreign[0]} is in it`,
      {
        hint: "Choose a new --output folder: the files of two runs are never mixed.",
      },
    );
  }
}

/** Removes what a killed process left of files that it was writing. */
async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (TEMPORARY.test(name)) await rm(join(folder, name));
}

async function requireKnownRecords(run: PreparedRun): Promise<void> {
  const expected = new Set(run.units.map(({ key }) => `${key}.json`));
  const names = await readdir(join(run.request.output, FILES.records));
  const foreign = names.find((name) => !expected.has(name));
  if (foreign !== undefined) {
    throw new RunnerError(
      "refused",
      "RECORDS_FOREIGN",
      `${run.request.output}/records/${foreign} is no record of this run`,
      {
        hint: "Remove what was added, or start anew in another folder.",
      },
    );
  }
}

/** The record of a unit, or null. @throws RunnerError `RECORD_FOREIGN` when it belongs to another run or unit. */
export async function readRecord(run: PreparedRun, key: string): Promise<ProofRecord | null> {
  return (await readRecordFile(run, key))?.record ?? null;
}

/** The same with the text of its file. */
export async function readRecordFile(
  run: PreparedRun,
  key: string,
): Promise<{ readonly record: ProofRecord; readonly text: string } | null> {
  const path = recordPath(run.request.output, key);
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT")) return null;
    throw cause;
  });
  if (bytes === null) return null;
  const value = parseStrictJson(bytes, { source: path, maxBytes: Number.POSITIVE_INFINITY });
  if (!isObject(value) || value.run_id !== run.manifest.run_id || value.record_key !== key) {
    throw new RunnerError(
      "integrity",
      "RECORD_FOREIGN",
      `${path} is not the record ${key} of run ${run.manifest.run_id}`,
      {
        hint: "The file was replaced. Start anew in another folder.",
      },
    );
  }
  // This runner wrote it under a durable name; `runner verify` derives it again from the raw replies.
  return { record: value as unknown as ProofRecord, text: bytes.toString("utf8") };
}

/** JSON for people and programs: two spaces, one line end at the end. */
export function pretty(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
