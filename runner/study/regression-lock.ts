import { readFile } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import { canonicalText } from "../base/canonical-json.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { digestSchema } from "../evidence/object-ref.ts";
import { OUTCOMES } from "../trial/record.ts";

/** What became of one run, as far as it must come out again. */
const outcomeSchema = z.strictObject({
  outcome: z.enum(OUTCOMES),
  reward: z.number().nullable(),
  rewards: z.record(z.string(), z.number()).nullable(),
  failedCheck: z.string().nullable(),
  /** Code of the cause of a run without a score. */
  cause: z.string().nullable(),
});
export type LockedOutcome = z.infer<typeof outcomeSchema>;

const taskSchema = z.strictObject({
  /** Digest of every file that a container of the task gets, and of what describes it; `+x` after an executable one. */
  files: z.record(z.string(), z.string()),
  /** Input digests of its images by role. */
  images: z.record(z.string(), digestSchema),
  /** By who played: `oracle`, `nop`, `trap <name>`. */
  outcomes: z.record(z.string(), outcomeSchema),
});
export type LockedTask = z.infer<typeof taskSchema>;

const imageSchema = z.strictObject({
  inputDigest: digestSchema,
  configDigest: digestSchema,
  /** Versions by kind and name. */
  packages: z.record(z.string(), z.string()),
});
export type LockedImage = z.infer<typeof imageSchema>;

const serverSchema = z.strictObject({
  /** The study's name of its MCP server, and the image that it runs in. */
  name: z.string(),
  image: z.string(),
  surface: digestSchema,
  /** The server's own name and version. */
  server: z.string(),
  instructions: digestSchema.nullable(),
  /** Digest of each tool's whole description, by name. */
  tools: z.record(z.string(), digestSchema),
  catalog: z.strictObject({ digest: digestSchema, operations: z.int().min(0) }).nullable(),
});
export type LockedServer = z.infer<typeof serverSchema>;

const studySchema = z.strictObject({
  /** Path of the study, relative to the lock. */
  path: z.string(),
  digest: digestSchema,
  agent: z.string(),
  model: z.string().nullable(),
  /** Digest of each trial's cassette. */
  cassettes: z.record(z.string(), digestSchema),
  server: serverSchema,
  /** By task, condition and repetition. */
  outcomes: z.record(z.string(), outcomeSchema),
});
export type LockedStudy = z.infer<typeof studySchema>;

const lockSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("regression-lock"),
  /** Path of the dataset, relative to the lock. */
  dataset: z.string(),
  /** True when the lock covers all of the dataset's tasks, so that a new one is a difference. */
  whole: z.boolean(),
  tasks: z.record(z.string(), taskSchema),
  /** The runner's own images that tasks stand on; those that hold the runner's own programs are what is tested, and are left out. */
  images: z.record(z.string(), imageSchema),
  study: studySchema.nullable(),
});

/** A dataset and its images by digest, with what every run of its tasks is expected to give. */
export type RegressionLock = z.infer<typeof lockSchema>;

/** The bytes of a lock's file: keys sorted and lines indented, so that a change of it can be reviewed line by line. */
export function lockText(lock: RegressionLock): string {
  return `${JSON.stringify(JSON.parse(canonicalText(lock)) as Json, null, 2)}\n`;
}

/** Writes a lock durably, into a folder that need not be there yet. */
export async function writeRegressionLock(path: string, lock: RegressionLock): Promise<void> {
  await makeDirectory(dirname(path));
  await writeDurably(path, lockText(lock));
}

/** @throws RunnerError `LOCK_MISSING`, `JSON_INVALID`, `INPUT_INVALID`, or `LOCK_NOT_CANONICAL` for one that was written otherwise. */
export async function readRegressionLock(path: string): Promise<RegressionLock> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("usage", "LOCK_MISSING", `the lock ${path} does not exist`, {
      hint: "Name a file that `runner freeze --out` wrote.",
      cause,
    });
  }
  const lock = parseInput(lockSchema, parseStrictJson(bytes, { source: path }), path);
  if (lockText(lock) !== bytes.toString("utf8")) {
    throw new RunnerError("input", "LOCK_NOT_CANONICAL", `${path} is not written as \`runner freeze\` writes it`, {
      hint: "Change expectations by running `runner freeze` again, and review the difference.",
    });
  }
  return lock;
}
