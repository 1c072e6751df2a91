import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { z } from "zod";
import { type Digest, digestBytes } from "../base/digest.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { modelApiSchema } from "../base/formats/common.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { ANALYSIS_METHODS } from "../stats/plan.ts";

const name = z
  .string()
  .regex(/^[a-z0-9][a-z0-9._-]*$/, "expected lower-case letters, digits, dots, dashes and underscores");
const positive = z.int().min(1);

const modelSchema = z.strictObject({
  /** The model's id; the gateway lets no other through. */
  id: z.string().min(1),
  api: modelApiSchema,
  /** The provider's base URL, ending before the API's path (`…/v1`). Absent when the study only replays. */
  baseUrl: z.url({ protocol: /^https?$/ }).optional(),
  /** Name of the environment variable that holds the key; read by the runner, given to the gateway alone. */
  apiKeyEnv: z
    .string()
    .regex(/^[A-Z_][A-Z0-9_]*$/)
    .optional(),
  pricesMicroUsdPerMTok: z
    .strictObject({ input: z.int().min(0), cachedInput: z.int().min(0), output: z.int().min(0) })
    .optional(),
  /** Folder of cassettes, relative to the study file, that stands in for the provider. */
  replay: z.string().min(1).optional(),
});

const mcpSchema = z.strictObject({
  name,
  /** One of the runner's images, or an image reference that the engine has. */
  image: z.string().min(1),
  command: z.array(z.string()).min(1),
  url: z.url({ protocol: /^http$/ }),
  /** The locked surface, relative to the study file. */
  surface: z.string().min(1),
  /** Resource that lists the server's operations; bound by digest when named. */
  catalog: z.string().min(1).optional(),
  /** Seconds the server may take to answer its first request. */
  startSeconds: positive.default(120),
  /** Memory of the server's container in MiB. */
  memoryMb: positive.default(2048),
});

export const studySchema = z.strictObject({
  $schema: z.string().optional(),
  schemaVersion: z.literal("1"),
  studyId: name,
  evidenceClass: z.enum([
    "demo",
    "public-regression-observation",
    "public-recovery-observation",
    "held-out-comparison",
  ]),
  causalClaimAuthorized: z.literal(false),
  /** Folder of tasks, relative to the working directory the runner was started in or to the study file. */
  dataset: z.string().min(1),
  tasks: z.array(z.string().min(1)).min(1),
  agent: z.strictObject({
    name,
    version: z.string().min(1).optional(),
    reasoningEffort: z.string().min(1).optional(),
    /** Agent `command` only: the command line, run by /bin/sh in the task's working directory. */
    command: z.string().min(1).optional(),
  }),
  model: modelSchema.optional(),
  conditions: z.strictObject({ control: z.strictObject({}), treatment: z.strictObject({ mcp: mcpSchema }) }),
  budgets: z.strictObject({
    agentSeconds: positive,
    modelRequests: positive,
    tokens: positive,
    costMicroUsd: positive.optional(),
    toolCalls: positive,
  }),
  /** Per task, the operations that its outcome has an affordance for; the others count as irrelevant. */
  expectedOperations: z.record(z.string(), z.array(z.string().min(1))).optional(),
  repetitions: z.int().min(1).max(1000),
  seed: z.int().min(0),
  allowPublicNetwork: z.boolean().default(false),
  /** Names of host variables that `${VAR}` in a task may resolve. */
  allowEnvironment: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)).default([]),
  analysis: z.strictObject({
    primary: z.literal("reward"),
    method: z.enum(ANALYSIS_METHODS),
    alpha: z.literal(0.05),
    missing: z.literal("drop-pair"),
    minCoverage: z.number().min(0).max(1),
    maxDropImbalance: z.number().min(0).max(1),
    /** How the p-values of several secondary metrics are handled. */
    multiplicity: z.enum(["holm", "none"]).default("holm"),
  }),
});

/** A study file, checked. */
export type Study = z.infer<typeof studySchema>;
/** The MCP server that is the treatment. */
export type StudyMcp = z.infer<typeof mcpSchema>;
/** The model of a study. */
export type StudyModel = z.infer<typeof modelSchema>;

/** A study and where it came from. */
export interface LoadedStudy {
  readonly study: Study;
  readonly path: string;
  /** Digest of the file's exact bytes. */
  readonly digest: Digest;
  /** The command line says another agent, model or effort than the file. */
  readonly overridden: boolean;
  /** Resolves a path of the study file. */
  readonly resolve: (relative: string) => string;
}

/** Reads a study file. @throws RunnerError `STUDY_UNREADABLE`, `JSON_INVALID`, `INPUT_INVALID` or `STUDY_INCONSISTENT`. */
export async function loadStudy(path: string): Promise<LoadedStudy> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const problem = hasCode(cause, "ENOENT") ? "does not exist" : messageOf(cause);
    throw new RunnerError("input", "STUDY_UNREADABLE", `the study file ${path} ${problem}`, {
      hint: "Pass an existing study with --study; docs/studies.md shows a whole one.",
      cause,
    });
  }
  const study = parseInput(studySchema, parseStrictJson(bytes, { source: path }), path);
  requireConsistent(study, path);
  return {
    study,
    path,
    digest: digestBytes(bytes),
    overridden: false,
    resolve: (relative) => resolve(dirname(path), relative),
  };
}

function requireConsistent(study: Study, path: string): void {
  const problems: string[] = [];
  const repeated = study.tasks.filter((task, index) => study.tasks.indexOf(task) !== index);
  if (repeated.length > 0) problems.push(`tasks: ${repeated.join(", ")} named more than once`);
  if (study.agent.name === "command" && study.agent.command === undefined) {
    problems.push('agent.command: agent "command" needs the command line to run');
  }
  if (study.budgets.costMicroUsd !== undefined && study.model?.pricesMicroUsdPerMTok === undefined) {
    problems.push("budgets.costMicroUsd: a cost budget needs model.pricesMicroUsdPerMTok");
  }
  if (study.model !== undefined && study.model.baseUrl === undefined && study.model.replay === undefined) {
    problems.push("model: name a baseUrl to call, or a replay folder");
  }
  for (const task of Object.keys(study.expectedOperations ?? {})) {
    if (!study.tasks.includes(task)) problems.push(`expectedOperations: ${task} is not one of the study's tasks`);
  }
  if (problems.length > 0) {
    throw new RunnerError("input", "STUDY_INCONSISTENT", `${path}: ${problems.join("; ")}`);
  }
}
