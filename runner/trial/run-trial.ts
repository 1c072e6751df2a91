import { dirname } from "node:path";
import type { ModelAgent } from "../agent/model-agent.ts";
import { canonicalBytes } from "../base/canonical-json.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { messageOf } from "../base/errors.ts";
import { type AsyncStack, withStack } from "../base/stack.ts";
import { isUnknown } from "../base/unknown.ts";
import { packArchive } from "../docker/archive/pack.ts";
import { resolveEnv } from "../task/env.ts";
import { fileSets } from "../task/file-sets.ts";
import type { EnvTemplates } from "../task/model.ts";
import { createAgentContainer } from "./agent-container.ts";
import { type StepJob, stepJob } from "./agent-job.ts";
import type { Draft, TrialContext } from "./context.ts";
import { classifyFailure, stopsRun, TrialFailure } from "./failure.ts";
import { fileEntries } from "./files.ts";
import { finishGateway, takeGatewayEvidence } from "./gateway-evidence.ts";
import { serverTools, trialIdOf } from "./gateway-plan.ts";
import type { GatewaySet } from "./gateway-set.ts";
import { describeLastEnd, judgeEvidence, type ReadTrace, readTrialTrace } from "./judge-condition.ts";
import { judgeServer } from "./judge-server.ts";
import { modelPhaseNetwork, plainPhaseNetwork } from "./phase-network.ts";
import { findPlants } from "./plants.ts";
import type { TrialRecord } from "./record.ts";
import { runStep } from "./run-step.ts";
import { seal } from "./seal.ts";
import type { TrialSpec } from "./spec.ts";
import { startStopwatch } from "./stopwatch.ts";
import { trialTrajectory } from "./trajectory.ts";
import type { TrialWorld } from "./world.ts";

/** How long a gateway may take to write the end of its evidence. */
const GATEWAY_END_MS = 60_000;

/**
 * Runs one trial from its first container to its sealed record, and removes everything it made. A trial that fails is a record with its
 * outcome and cause; only evidence that cannot be written is thrown. `gateway` gives the trial's gateway where it is driven by a model.
 */
export async function runTrial(
  world: TrialWorld,
  spec: TrialSpec,
  gateway: (() => Promise<GatewaySet>) | null,
  signal: AbortSignal,
): Promise<TrialRecord> {
  const startedAt = world.clock.wall();
  const watch = startStopwatch(world.clock);
  const draft: Draft = {
    steps: [],
    verified: [],
    observations: [],
    gateway: null,
    trajectory: undefined,
    cassette: null,
    failure: null,
  };
  try {
    const sets = await fileSets(spec.task);
    const context = { world, spec, trialId: trialIdOf(world.runId, spec), sets, watch, draft, signal };
    // What a trial found out is not undone by what could not be removed afterwards; the next start of the runner removes that.
    await withStack(
      (stack) => phases(context, stack, gateway),
      (thrown) => draft.observations.push(`not all that the trial made could be removed: ${messageOf(thrown)}`),
    );
  } catch (thrown) {
    if (stopsRun(thrown)) throw thrown;
    draft.failure ??= classifyFailure(thrown, signal);
  }
  await world.store.sync();
  const record = seal(world, spec, draft, startedAt, watch);
  // A conversation that the provider or the runner broke off would break off in every replay, too.
  if (spec.record !== null && draft.cassette !== null && record.outcome === "scored") {
    await makeDirectory(dirname(spec.record));
    await writeDurably(spec.record, draft.cassette);
  }
  return record;
}

async function phases(
  context: TrialContext,
  stack: AsyncStack,
  gateway: (() => Promise<GatewaySet>) | null,
): Promise<void> {
  const { world, spec, trialId, sets, watch, draft, signal } = context;
  const { task } = spec;
  if (spec.unavailable !== null) {
    throw new TrialFailure("infra_error", spec.unavailable.code, spec.unavailable.detail);
  }
  const first = task.steps[0];
  if (first === undefined) throw new TrialFailure("invalid_task", "NO_STEPS", `task ${task.id} has no steps`);
  const environmentEnv = resolve(context, task.environment.env);
  const solutionEnv =
    spec.agent.kind === "oracle" || spec.agent.kind === "trap" ? resolve(context, task.solutionEnv) : {};

  const set = gateway === null ? null : stack.use(await watch.time("gateway", gateway));
  const phase =
    set === null
      ? (await plainPhaseNetwork(world, stack, trialId, first.agent.network, signal)).phase
      : await modelPhaseNetwork(world, first.agent.network, set);
  const mounts =
    spec.agent.kind === "model"
      ? [
          {
            volume: await world.runtimeVolume(spec.agent.agent.runtimeImage),
            target: spec.agent.agent.runtime,
            readOnly: true,
            noCopy: true,
          },
        ]
      : [];
  const workdir = task.environment.workdir ?? spec.environment.workdir;
  const jobs = task.steps.map((step, index) => stepJob(spec, step, index, sets, solutionEnv));
  async function* firstFiles() {
    const { image } = task.environment;
    if (image.kind === "image" && image.upload !== null) yield* fileEntries(sets.environment, workdir);
    yield* stepFiles(context, 0, jobs, workdir);
  }
  const { container, dropped } = await watch.time("provision", () =>
    createAgentContainer(world, spec, trialId, phase, environmentEnv, mounts, firstFiles(), signal),
  );
  stack.use(container);
  if (dropped.length > 0)
    draft.observations.push(`variables dropped from the agent's environment: ${dropped.join(", ")}`);

  let gatewayEnds: Promise<void> | null = null;
  try {
    if (spec.agent.kind === "model") {
      const { name, ambient } = spec.agent.agent;
      const scope = { workdir, user: first.agent.user ?? spec.environment.user, env: spec.environment.env };
      const plants = await watch.time("provision", () => findPlants(container, ambient, scope, signal));
      if (plants.length > 0)
        draft.observations.push(`settings planted for ${name}, which it does not read: ${plants.join(", ")}`);
    }
    for (const [index, step] of task.steps.entries()) {
      if (index > 0) {
        // What the agent left in the way of the next step's files is not the next step's fault.
        const files = packArchive(stepFiles(context, index, jobs, workdir));
        await container.putArchive(files, "/", { signal, replace: true });
      }
      const last = await runStep(
        context,
        { container, set, step, index, job: jobs[index], environmentEnv, workdir },
        () => {
          // The gateway writes its end while the verifier works.
          if (set !== null && index === task.steps.length - 1) gatewayEnds = finishQuietly(set).catch(() => undefined);
        },
      );
      if (last) break;
    }
  } catch (thrown) {
    if (stopsRun(thrown)) throw thrown;
    // Known before the gateway's evidence is judged, which says more than some failures and less than others.
    draft.failure ??= classifyFailure(thrown, signal);
  } finally {
    if (set !== null) await watch.time("gateway", () => sealGateway(context, set, gatewayEnds));
  }
}

async function* stepFiles(context: TrialContext, index: number, jobs: readonly StepJob[], workdir: string) {
  yield* fileEntries(context.sets.steps[index]?.workdir ?? [], workdir);
  yield* jobs[index]?.files() ?? [];
}

async function finishQuietly(set: GatewaySet): Promise<void> {
  await finishGateway(set, AbortSignal.timeout(GATEWAY_END_MS));
}

async function sealGateway(context: TrialContext, set: GatewaySet, ending: Promise<void> | null): Promise<void> {
  const { world, spec, draft } = context;
  // The trial may be aborted; its evidence is still taken, within a time of its own.
  const signal = AbortSignal.timeout(GATEWAY_END_MS);
  try {
    draft.failure = await judgeServer(set.mcp, draft.failure, signal);
    await (ending ?? finishGateway(set, signal)).catch(() => undefined);
    const { cassette, ...evidence } = await takeGatewayEvidence(set, world.store, signal);
    draft.gateway = evidence;
    draft.cassette = cassette;
    if (spec.agent.kind !== "model") return;
    const read = await readTrialTrace(world.store, evidence);
    describeLastEnd(read, draft.steps);
    draft.trajectory = await storeTrajectory(context, spec.agent.agent, read);
    draft.failure = await judgeEvidence(world.store, spec, read, draft.steps, draft.failure);
  } catch (thrown) {
    if (stopsRun(thrown)) throw thrown;
    draft.failure ??= classifyFailure(thrown, context.signal);
  }
}

async function storeTrajectory(
  { world, spec, draft }: TrialContext,
  agent: ModelAgent,
  read: ReadTrace,
): Promise<TrialRecord["trajectory"]> {
  const server = { name: spec.mcp?.name ?? "", tools: serverTools(spec) };
  const { condition, repetition, attempt } = spec;
  const trial = { task: spec.task.id, condition, repetition, attempt, steps: draft.steps };
  const trajectory = await trialTrajectory(world.store, agent, server, trial, read);
  return isUnknown(trajectory) ? trajectory : await world.store.put(canonicalBytes(trajectory));
}

function resolve({ spec }: TrialContext, templates: EnvTemplates): Readonly<Record<string, string>> {
  const allow = new Set(Object.keys(spec.hostVariables));
  return resolveEnv(templates, { allow, host: spec.hostVariables }).env;
}
