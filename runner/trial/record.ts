import { z } from "zod";
import type { Digest } from "../base/digest.ts";
import type { Known } from "../base/unknown.ts";
import { digestSchema, type ObjectRef, objectRefSchema } from "../evidence/object-ref.ts";

/** Ways a trial can end. Only `scored` enters the statistics. */
export const OUTCOMES = [
  "scored",
  "verifier_error",
  "invalid_task",
  "invalid_condition",
  "provider_error",
  "infra_error",
  "interrupted",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Why a trial ended as it did: a permanent code, and a sentence with the values seen. */
export interface Cause {
  readonly code: string;
  readonly detail: string;
}

/** How the agent ended; apart from the outcome, because a stopped agent's work is still graded. */
export interface AgentEnd {
  readonly by: "self" | "timeout" | "budget" | "crash";
  readonly exitCode: number | null;
  /** Which limit fired, for `timeout` and `budget`; what broke, for `crash`. */
  readonly detail: string | null;
}

const unknownSchema = z.strictObject({
  unknown: z.enum(["missing", "stale", "truncated", "unavailable"]),
  detail: z.string().optional(),
});

function known<T>(schema: z.ZodType<T>): z.ZodType<Known<T>> {
  return z.union([schema, unknownSchema]) as z.ZodType<Known<T>>;
}

const micros = z.int().min(0);
const causeSchema = z.strictObject({ code: z.string(), detail: z.string() });
const captureSchema = z.strictObject({
  /** What was kept: all of it, or its head and its tail. */
  head: objectRefSchema,
  tail: objectRefSchema.nullable(),
  bytes: z.int().min(0),
  truncated: z.boolean(),
});

const artifactSchema = z.strictObject({
  /** Absolute path in the agent's container. */
  path: z.string(),
  type: z.enum(["file", "directory", "link"]),
  mode: z.int().min(0).max(0o777),
  content: objectRefSchema.nullable(),
  linkTarget: z.string().nullable(),
});

const refusedSchema = z.array(z.strictObject({ path: z.string(), reason: z.string() }));

const verifierSchema = z.strictObject({
  mode: z.enum(["separate", "shared-filesystem"]),
  image: digestSchema,
  endedBy: z.enum(["self", "timeout", "container-died"]),
  exitCode: z.int().nullable(),
  stdout: captureSchema,
  stderr: captureSchema,
  files: z.array(z.strictObject({ path: z.string(), content: objectRefSchema })),
  /** What lay in its log folder and was not read, links among it; left out when there is none. */
  refused: refusedSchema.optional(),
});

const stepSchema = z.strictObject({
  name: z.string(),
  agentEnd: z
    .strictObject({
      by: z.enum(["self", "timeout", "budget", "crash"]),
      exitCode: z.int().nullable(),
      detail: z.string().nullable(),
    })
    .nullable(),
  agentOutput: z.strictObject({ stdout: captureSchema, stderr: captureSchema }).nullable(),
  artifacts: z.array(artifactSchema),
  /** What collection left behind, and why: absent sources, links that leave, devices, FIFOs, limits. */
  refused: refusedSchema,
  /** Files that were in the verifier's log folder before the verifier existed: kept as evidence, never graded. */
  planted: z.array(z.strictObject({ path: z.string(), content: objectRefSchema.nullable() })),
  submission: known(
    z.strictObject({ status: z.enum(["valid", "invalid", "absent", "undeclared"]), places: z.array(z.string()) }),
  ),
  verifier: verifierSchema.nullable(),
  /** What the same verifier left when it graded the same artifacts again; left out when it was asked once. */
  regraded: verifierSchema.optional(),
  rewards: z.record(z.string(), z.number()).nullable(),
  /** The first check of the verdict that failed, where the verifier wrote a verdict. */
  failedCheck: z.string().nullable(),
  cause: causeSchema.nullable(),
});

/** One sealed trial: what ran, what it left, and how it was graded. Everything it names is in the bundle's store. */
export const trialRecordSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  number: z.int().min(1),
  attempt: z.int().min(1),
  task: z.string(),
  taskDigest: digestSchema,
  condition: z.enum(["control", "treatment", "none"]),
  repetition: z.int().min(1),
  agent: z.strictObject({ name: z.string(), version: z.string().nullable() }),
  modelSource: z.enum(["live", "replayed", "scripted", "none"]),
  outcome: z.enum(OUTCOMES),
  cause: causeSchema.nullable(),
  /** The primary reward in [0, 1]; null unless the outcome is `scored`. */
  reward: z.number().min(0).max(1).nullable(),
  /** Every reward dimension of the trial; null unless the outcome is `scored`. */
  rewards: z.record(z.string(), z.number()).nullable(),
  steps: z.array(stepSchema),
  images: z.record(z.string(), digestSchema),
  gateway: z
    .strictObject({ trace: objectRefSchema, objects: z.array(objectRefSchema), surface: objectRefSchema.nullable() })
    .nullable(),
  /** The agent's trajectory in Harbor's format, as canonical JSON; left out for an agent that no model drives. */
  trajectory: known(objectRefSchema).optional(),
  /** Microseconds of each phase. */
  elapsed: z.record(z.string(), micros),
  /** Facts of the host that are no verdict: OOM flags, writable bytes, what was dropped from the environment. */
  observations: z.array(z.string()),
  /** Wall-clock labels; never used for a duration. */
  startedAt: z.string(),
  finishedAt: z.string(),
});

export type TrialRecord = z.infer<typeof trialRecordSchema>;
export type StepRecord = z.infer<typeof stepSchema>;
export type VerifierRecord = z.infer<typeof verifierSchema>;
export type ArtifactRecord = z.infer<typeof artifactSchema>;
export type CaptureRecord = z.infer<typeof captureSchema>;
export type { Digest, ObjectRef };
