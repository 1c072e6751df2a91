import { join } from "node:path";
import pLimit from "p-limit";
import { findAgent } from "../agent/registry.ts";
import { allOrAbort } from "../base/all-or-abort.ts";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { surfaceDigest } from "../base/formats/surface.ts";
import { AsyncStack } from "../base/stack.ts";
import type { Engine } from "../docker/engine.ts";
import { BUNDLE, type BundleWriter, createBundle, requireEmpty } from "../evidence/bundle.ts";
import { resolveImage } from "../image/resolve-base.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import { probeSurface } from "../trial/probe-surface.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { AgentPlan, McpPlan, ModelPlan, ResolvedImage, TrialSpec } from "../trial/spec.ts";
import type { SharedWorld, TrialWorld } from "../trial/world.ts";
import { requireApiKey } from "./api-key.ts";
import { startGatewaysAhead } from "./gateways-ahead.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { Condition, PlannedTrial } from "./order.ts";
import { registerRun } from "./run-registry.ts";
import { type SealedRun, sealRun } from "./seal-run.ts";
import { runSealed, type SealedTrial } from "./sealed-trial.ts";
import type { LoadedStudy } from "./study-file.ts";
import type { TaskImageState } from "./task-images.ts";

export interface ExecuteOptions {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  readonly prepared: PreparedPlan;
  /** The runner's folder, whose local state notes that the run is under way. */
  readonly projectRoot: string;
  readonly conditions: readonly Condition[];
  /** The bundle's folder; with both conditions the parent of `control` and `treatment`. */
  readonly out: string;
  readonly concurrency: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** What a trial's specification is made from. */
type SpecOptions = Omit<ExecuteOptions, "conditions" | "out" | "concurrency" | "projectRoot">;

/**
 * Runs the planned trials of the given conditions in the plan's order and seals one bundle per condition. The treatment's server is held
 * against the lock before anything is created.
 */
export async function executePlan(options: ExecuteOptions): Promise<SealedRun[]> {
  const { engine, prepared, conditions, out, signal, clock = systemClock } = options;
  await requireEmpty(out);
  const runId = newRunId(clock);
  const startedAt = clock.wall();
  await using stack = new AsyncStack();
  const shared = stack.use(await openWorld({ engine, runId, images: prepared.own.ids, signal, clock }));
  const specs = (await planTrialSpecs(options)).filter(({ condition }) => conditions.includes(condition as Condition));
  const mcp = await mcpPlan(options);
  const surface = conditions.includes("treatment") ? await preflight(options, shared, mcp) : null;
  const secrets = specs.map((spec) => spec.model?.apiKey);
  const dirs = conditions.map((condition) => (conditions.length > 1 ? join(out, condition) : out));
  stack.use(await registerRun(options.projectRoot, runId, dirs, shared.owner));
  const bundles = new Map<Condition, BundleWriter>();
  const worlds = new Map<Condition, TrialWorld>();
  for (const condition of conditions) {
    const bundle = stack.use(await createBundle(conditions.length > 1 ? join(out, condition) : out, { secrets }));
    bundles.set(condition, bundle);
    worlds.set(condition, { ...shared, store: bundle.store });
    await bundle.writeDocument(BUNDLE.plan, canonicalBytes(prepared.plan));
    await bundle.ledger.append({ type: "run-opened", runId, kind: "run", condition });
  }
  const results = await runTrials(options, specs, worlds, bundles);
  const runs: SealedRun[] = [];
  for (const condition of conditions) {
    const bundle = bundles.get(condition);
    if (bundle === undefined) continue;
    await bundle.ledger.append({ type: "run-closed", runId });
    runs.push(
      await sealRun({
        bundle,
        runId,
        condition,
        order: conditions.length > 1 ? "interleaved" : "separate",
        prepared,
        surface: condition === "treatment" ? surface : null,
        trials: results.filter(({ record }) => record.condition === condition),
        engine,
        startedAt,
        finishedAt: clock.wall(),
      }),
    );
  }
  return runs;
}

/** The specifications of a plan's trials, in its order, without anything being started. */
export async function planTrialSpecs(options: SpecOptions): Promise<TrialSpec[]> {
  const model = modelPlan(options);
  const mcp = await mcpPlan(options);
  return options.prepared.plan.trials.map((trial) => trialSpec(options, trial, model, mcp));
}

async function runTrials(
  { concurrency, report, signal, clock = systemClock }: ExecuteOptions,
  specs: readonly TrialSpec[],
  worlds: ReadonlyMap<Condition, TrialWorld>,
  bundles: ReadonlyMap<Condition, BundleWriter>,
): Promise<SealedTrial[]> {
  const limit = pLimit(concurrency);
  const from = clock.micros();
  let done = 0;
  const results = await allOrAbort(signal, (joint) => {
    const ahead = new Map(
      [...worlds].map(([condition, world]) => [
        condition,
        startGatewaysAhead(
          world,
          specs.filter((spec) => spec.condition === condition),
          concurrency,
          joint,
        ),
      ]),
    );
    const trials = specs.map((spec) =>
      limit(async () => {
        joint.throwIfAborted();
        const condition = spec.condition as Condition;
        const world = worlds.get(condition);
        const bundle = bundles.get(condition);
        if (world === undefined || bundle === undefined) throw new Error(`no world for ${condition}`);
        const gateways = spec.agent.kind === "model" && spec.unavailable === null ? ahead.get(condition) : undefined;
        const take = gateways === undefined ? null : () => gateways.take(spec);
        const sealed = await runSealed(world, bundle, spec, take, joint);
        done += 1;
        report(progressLine(sealed.record, done, specs.length, clock.micros() - from));
        return sealed;
      }),
    );
    // The gateways started ahead go when every trial has ended, whatever the reason.
    const released = Promise.allSettled(trials).then(() =>
      Promise.all([...ahead.values()].map((gateways) => gateways[Symbol.asyncDispose]())),
    );
    return [...trials, released.then(() => null)] as Promise<SealedTrial | null>[];
  });
  signal.throwIfAborted();
  return results.filter((result) => result !== null);
}

function progressLine(record: TrialRecord, done: number, total: number, elapsedMicros: number): string {
  const reward = record.reward === null ? "" : ` reward ${record.reward}`;
  const cause = record.cause === null ? "" : ` (${record.cause.code}: ${record.cause.detail})`;
  const left = done < total ? `, about ${Math.ceil(((elapsedMicros / done) * (total - done)) / 1e6)} s left` : "";
  const seconds = ((record.elapsed.total ?? 0) / 1e6).toFixed(1);
  return `[${done}/${total}] ${record.task} ${record.condition} #${record.repetition}: ${record.outcome}${reward}${cause} in ${seconds} s${left}`;
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

async function mcpPlan({ engine, study, prepared, report, signal }: SpecOptions): Promise<McpPlan> {
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

/** Holds a server of the run's own against the locked surface, catalog included. @throws RunnerError `MCP_PREFLIGHT`, `MCP_SURFACE_CHANGED`. */
async function preflight(
  { report, signal, prepared }: ExecuteOptions,
  world: SharedWorld,
  mcp: McpPlan,
): Promise<Buffer> {
  report(`preflight: starting ${mcp.name} and reading what it advertises`);
  const surface = await probeSurface(world, mcp, signal);
  const [found, locked] = [surfaceDigest(surface), surfaceDigest(prepared.surface)];
  if (found !== locked) {
    throw new RunnerError(
      "refused",
      "MCP_SURFACE_CHANGED",
      `the MCP server ${mcp.name} advertises ${found}, locked is ${locked}`,
      {
        hint: "No trial was started. Run `runner images lock` and review the difference, or pin the server's image again.",
      },
    );
  }
  report(`preflight: the surface is the locked one, ${found}`);
  return canonicalBytes(surface);
}

function trialSpec(
  { study, prepared, env }: SpecOptions,
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
