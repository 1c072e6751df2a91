import { z } from "zod";
import { digestSchema } from "../evidence/object-ref.ts";

const bindingSchema = z.record(z.string(), z.unknown());

const plannedTrialSchema = z.strictObject({
  number: z.int().min(1),
  pair: z.int().min(1),
  task: z.string(),
  repetition: z.int().min(1),
  condition: z.enum(["control", "treatment"]),
});

const taskBindingSchema = z.strictObject({
  id: z.string(),
  digests: z.strictObject({
    contract: digestSchema,
    environment: digestSchema,
    verifier: digestSchema,
    oracle: digestSchema,
    traps: digestSchema,
    hidden: digestSchema,
    task: digestSchema,
  }),
  /** Input digest of the environment's image, replacements included. */
  environmentImage: digestSchema,
  /** Input digests of the separate verifiers' images, one per step. */
  verifierImages: z.array(digestSchema.nullable()),
  replaced: z.array(z.strictObject({ from: z.string(), to: z.string() })),
  /** Key of the oracle evidence the task relies on. */
  oracle: digestSchema,
  /** How a trial's reward comes from its steps' rewards, so that it can be computed again from the verifiers' files alone. */
  reward: z.strictObject({ key: z.string(), strategy: z.enum(["mean", "final"]), steps: z.int().min(1) }),
});

/** A study, expanded and bound: what both conditions share, trial by trial. Its digest is the plan's identity. */
export const planSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("plan"),
  studyId: z.string(),
  studyDigest: digestSchema,
  evidenceClass: z.enum([
    "demo",
    "public-regression-observation",
    "public-recovery-observation",
    "held-out-comparison",
  ]),
  causalClaimAuthorized: z.literal(false),
  /** True when --tasks, --repetitions, --agent, --model or --reasoning-effort narrowed or changed what the study says. */
  subset: z.boolean(),
  runner: bindingSchema,
  platform: z.strictObject({ os: z.string(), arch: z.string() }),
  /** Digest over the ids and digests of the planned tasks. */
  datasetDigest: digestSchema,
  tasks: z.array(taskBindingSchema),
  /** The runner's own images that take part: input digest, configuration digest and package list digest. */
  images: z.record(
    z.string(),
    z.strictObject({ inputDigest: digestSchema, configDigest: digestSchema, packagesDigest: digestSchema }),
  ),
  agent: z.strictObject({
    name: z.string(),
    version: z.string().nullable(),
    reasoningEffort: z.string().nullable(),
    command: z.string().nullable(),
  }),
  model: z
    .strictObject({
      id: z.string(),
      api: z.enum(["chat", "responses", "messages"]),
      /** The provider, or null when cassettes answer. */
      baseUrl: z.string().nullable(),
      source: z.enum(["live", "replayed", "scripted"]),
      prices: bindingSchema.nullable(),
    })
    .nullable(),
  /** Digest of the cassette of each trial, by trial number; empty for a live model. */
  cassettes: z.record(z.string(), digestSchema),
  /** The treatment's server; what control binds is its absence. */
  mcp: z.strictObject({
    name: z.string(),
    image: z.string(),
    command: z.array(z.string()),
    url: z.string(),
    surface: digestSchema,
    catalog: bindingSchema.nullable(),
  }),
  budgets: bindingSchema,
  expectedOperations: z.record(z.string(), z.array(z.string())),
  allowPublicNetwork: z.boolean(),
  allowEnvironment: z.array(z.string()),
  /** Keyed digests of those variables' values on the host, null where one is not set; left out where none is allowed. */
  environment: z
    .record(
      z.string(),
      z
        .string()
        .regex(/^hmac-sha256:[0-9a-f]{64}$/)
        .nullable(),
    )
    .optional(),
  repetitions: z.int().min(1),
  seed: z.int().min(0),
  analysis: bindingSchema,
  trials: z.array(plannedTrialSchema),
});

export type Plan = z.infer<typeof planSchema>;
export type TaskBinding = z.infer<typeof taskBindingSchema>;

/** The most that a run of the plan's conditions can use. */
export interface CallBudget {
  readonly trials: number;
  readonly modelRequests: number;
  readonly tokens: number;
  /** null: the study has no cost budget. */
  readonly costMicroUsd: number | null;
  readonly toolCalls: number;
  readonly agentSeconds: number;
}

/** Adds up the budgets of the trials of the given conditions. A model's requests are counted only where a model is asked at all. */
export function callBudget(plan: Plan, conditions: readonly string[]): CallBudget {
  const trials = plan.trials.filter(({ condition }) => conditions.includes(condition));
  const asked = plan.model === null ? 0 : trials.length;
  const of = (name: string): number => (typeof plan.budgets[name] === "number" ? plan.budgets[name] : 0);
  const treated = plan.model === null ? 0 : trials.filter(({ condition }) => condition === "treatment").length;
  return {
    trials: trials.length,
    modelRequests: asked * of("modelRequests"),
    tokens: asked * of("tokens"),
    costMicroUsd: plan.budgets.costMicroUsd === undefined ? null : asked * of("costMicroUsd"),
    toolCalls: treated * of("toolCalls"),
    agentSeconds: trials.length * of("agentSeconds"),
  };
}
