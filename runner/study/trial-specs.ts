import { join } from "node:path";
import { findAgent } from "../agent/registry.ts";
import type { Digest } from "../base/digest.ts";
import type { Engine } from "../docker/engine.ts";
import { resolveImage } from "../image/resolve-base.ts";
import type { AgentPlan, McpPlan, ModelPlan, ResolvedImage, TrialSpec } from "../trial/spec.ts";
import { requireApiKey } from "./api-key.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { PlannedTrial } from "./order.ts";
import type { LoadedStudy } from "./study-file.ts";
import type { TaskImageState } from "./task-images.ts";

/** What a trial's specification is made from. */
export interface SpecOptions {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  readonly prepared: PreparedPlan;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  /** Folder that cassettes of live conversations are written to. */
  readonly request?: { readonly record: string | null };
}

/** The specifications of a plan's trials, or of those that are wanted, in its order, without anything being started. */
export async function planTrialSpecs(
  options: SpecOptions,
  wanted: (number: number) => boolean = () => true,
): Promise<TrialSpec[]> {
  const model = modelPlan(options);
  const mcp = await mcpPlan(options);
  return options.prepared.plan.trials
    .filter(({ number }) => wanted(number))
    .map((trial) => trialSpec(options, trial, model, mcp));
}

/** What the gateways are told of the model; the provider's key is read for a live one only. */
function modelPlan({ study, prepared, env }: SpecOptions): Omit<ModelPlan, "cassette"> | null {
  const { model } = study.study;
  if (prepared.plan.model === null || model === undefined) return null;
  const apiKey = prepared.plan.model.source === "live" ? requireApiKey(model, env) : null;
  return {
    id: model.id,
    api: model.api,
    baseUrl: model.baseUrl ?? null,
    apiKey,
    caPem: prepared.own.hostCa?.privatePem ?? null,
    prices:
      model.pricesMicroUsdPerMTok === undefined ? null : { ...model.pricesMicroUsdPerMTok, cacheWriteInput: null },
  };
}

/** What a trial's server is started from. */
export async function mcpPlan({ engine, study, prepared, report, signal }: SpecOptions): Promise<McpPlan> {
  const { mcp } = study.study.conditions.treatment;
  const named = prepared.own.ids.get(mcp.image);
  const image =
    named ??
    (await resolveImage(engine.docker, mcp.image, { maps: [], lock: prepared.own.lock, report, signal })).imageId;
  return {
    name: mcp.name,
    image,
    command: mcp.command,
    url: mcp.url,
    startMicros: mcp.startSeconds * 1_000_000,
    memoryBytes: mcp.memoryMb * 1024 * 1024,
    surface: prepared.surface,
    catalogUri: mcp.catalog ?? null,
  };
}

/** The id of the study's server's image by its name, where it is none of the runner's own and so not in the plan. */
export async function foreignServerImage(options: SpecOptions): Promise<Record<string, Digest>> {
  const { own, plan } = options.prepared;
  const { image } = plan.mcp;
  return own.ids.has(image) ? {} : { [image]: (await mcpPlan(options)).image };
}

function trialSpec(
  { study, prepared, env, request }: SpecOptions,
  trial: PlannedTrial,
  model: Omit<ModelPlan, "cassette"> | null,
  mcp: McpPlan,
): TrialSpec {
  const planned = prepared.tasks.get(trial.task);
  if (planned === undefined) throw new Error(`the plan has no task ${trial.task}`);
  const cassette = prepared.cassettes.get(trial.number);
  const { budgets } = study.study;
  return {
    number: trial.number,
    attempt: 1,
    task: planned.task,
    taskDigest: planned.digests.task,
    condition: trial.condition,
    repetition: trial.repetition,
    agent: agentPlan(study),
    environment: resolved(planned.prepared.environment),
    verifiers: planned.prepared.verifiers.map((image) => image && resolved(image)),
    unavailable: planned.unavailable,
    model:
      model === null
        ? null
        : { ...model, cassette: cassette === undefined ? null : { bytes: cassette.bytes, source: cassette.source } },
    mcp,
    budgets: {
      agentSeconds: budgets.agentSeconds,
      modelRequests: budgets.modelRequests,
      tokens: budgets.tokens,
      costMicroUsd: budgets.costMicroUsd ?? null,
      toolCalls: budgets.toolCalls,
    },
    hostVariables: Object.fromEntries(
      study.study.allowEnvironment.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])),
    ),
    gradings: 1,
    record:
      request?.record == null
        ? null
        : join(request.record, `${trial.task}.${trial.condition}.${trial.repetition}.json`),
  };
}

/** An image that could not be made is known by its inputs alone; its trials are sealed without using it. */
function resolved(image: TaskImageState): ResolvedImage {
  return { ...image, id: image.id ?? image.inputDigest };
}

function agentPlan({ study }: LoadedStudy): AgentPlan {
  const agent = findAgent(study.agent.name);
  if (typeof agent !== "string") {
    return { kind: "model", agent, reasoningEffort: study.agent.reasoningEffort ?? null };
  }
  return agent === "command" ? { kind: "command", command: study.agent.command ?? "" } : { kind: agent };
}
