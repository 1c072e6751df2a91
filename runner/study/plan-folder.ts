import { lstat, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { requireEmpty } from "../evidence/bundle.ts";
import { type Plan, planSchema } from "./plan.ts";
import { type RunRequest, runRequestSchema } from "./run-request.ts";

/** The files of a plan's folder: the plan, what it was made from, and the study's own bytes for whoever reads it later. */
export const PLAN_FILES = { plan: "plan.json", request: "request.json", study: "study.json" } as const;

/** A plan that was written down, to be executed as it stands. */
export interface WrittenPlan {
  readonly plan: Plan;
  readonly digest: Digest;
  readonly request: RunRequest;
}

/**
 * Writes a plan into a new folder, the plan itself last: a folder with a plan is whole. The plan's digest is the sha256 of its file.
 * @throws RunnerError `OUT_NOT_EMPTY`, `OUT_UNWRITABLE`, `STUDY_CHANGED` when the study file has other bytes than the plan was made from.
 */
export async function writePlanFolder(dir: string, plan: Plan, request: RunRequest): Promise<Digest> {
  await requireEmpty(dir);
  const study = await readFile(request.study);
  if (digestBytes(study) !== plan.studyDigest) {
    throw new RunnerError("refused", "STUDY_CHANGED", `${request.study} was changed while the plan was made`, {
      hint: "Make the plan again.",
    });
  }
  await makeDirectory(dir);
  await writeDurably(join(dir, PLAN_FILES.study), study);
  await writeDurably(join(dir, PLAN_FILES.request), canonicalBytes({ schemaVersion: "1", ...request }));
  const bytes = canonicalBytes(plan);
  await writeDurably(join(dir, PLAN_FILES.plan), bytes);
  return digestBytes(bytes);
}

/**
 * Reads a plan from its folder, or from its file there.
 * @throws RunnerError `PLAN_MISSING`, `JSON_INVALID`, `INPUT_INVALID`, `PLAN_NOT_CANONICAL`.
 */
export async function readPlanFolder(path: string): Promise<WrittenPlan> {
  const folder = (await lstat(path).catch(() => null))?.isDirectory() === true;
  const file = folder ? join(path, PLAN_FILES.plan) : path;
  const bytes = await read(file);
  const plan = parseInput(planSchema, parseStrictJson(bytes, { source: file }), file);
  if (!canonicalBytes(plan).equals(bytes)) {
    throw new RunnerError("integrity", "PLAN_NOT_CANONICAL", `${file} is not written as canonical JSON`, {
      hint: "Plans are written by `runner plan` and never edited; change the study and make another.",
    });
  }
  const requestFile = join(dirname(file), PLAN_FILES.request);
  const written = parseStrictJson(await read(requestFile), { source: requestFile });
  const { schemaVersion: _, ...request } = written as { schemaVersion?: unknown };
  return { plan, digest: digestBytes(bytes), request: parseInput(runRequestSchema, request, requestFile) };
}

async function read(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "ENOTDIR")) throw cause;
    throw new RunnerError("input", "PLAN_MISSING", `${path} does not exist`, {
      hint: `Name the folder that \`runner plan --out\` wrote; ${basename(path)} is one of its files.`,
      cause,
    });
  }
}
