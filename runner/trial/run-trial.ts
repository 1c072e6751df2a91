import { AsyncStack } from "../base/stack.ts";
import { packArchive } from "../docker/archive/pack.ts";
import { createCapture, tailText } from "../docker/capture.ts";
import type { Container } from "../docker/container.ts";
import { resolveEnv } from "../task/env.ts";
import { type FileSets, fileSets } from "../task/file-sets.ts";
import type { EnvTemplates, Step } from "../task/model.ts";
import { combineSteps, missedGates } from "../task/step-rewards.ts";
import { createAgentContainer } from "./agent-container.ts";
import { type StepJob, stepJob } from "./agent-job.ts";
import { collect } from "./collect.ts";
import { classifyFailure, stopsRun, TrialFailure } from "./failure.ts";
import { fileEntries } from "./files.ts";
import { finishGateway, takeGatewayEvidence } from "./gateway-evidence.ts";
import { trialIdOf } from "./gateway-plan.ts";
import type { GatewaySet } from "./gateway-set.ts";
import { gradeStep } from "./grade-step.ts";
import { awaitHealthy } from "./healthcheck.ts";
import { judgeCondition, judgeTrouble } from "./judge-condition.ts";
import { modelPhaseNetwork, plainPhaseNetwork } from "./phase-network.ts";
import type { Cause, Outcome, StepRecord, TrialRecord } from "./record.ts";
import { type AgentLimits, runAgent } from "./run-agent.ts";
import type { TrialSpec } from "./spec.ts";
import { type Stopwatch, startStopwatch } from "./stopwatch.ts";
import type { TrialWorld } from "./world.ts";

/** How long a gateway may take to write the end of its evidence. */
const GATEWAY_END_MS = 60_000;

/** What the trial has found out so far; sealed whatever happens. */
interface Draft {
  readonly steps: StepRecord[];
  readonly verified: Readonly<Record<string, number>>[];
  readonly observations: string[];
  gateway: TrialRecord["gateway"];
  failure: { readonly outcome: Exclude<Outcome, "scored">; readonly cause: Cause } | null;
}

/** Everything the phases of one trial share. */
interface Context {
  readonly world: TrialWorld;
  readonly spec: TrialSpec;
  readonly trialId: string;
  readonly sets: FileSets;
  readonly watch: Stopwatch;
  readonly draft: Draft;
  readonly signal: AbortSignal;
}

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
  const draft: Draft = { steps: [], verified: [], observations: [], gateway: null, failure: null };
  try {
    const sets = await fileSets(spec.task);
    await phases({ world, spec, trialId: trialIdOf(world.runId, spec), sets, watch, draft, signal }, gateway);
  } catch (thrown) {
    if (stopsRun(thrown)) throw thrown;
    draft.failure ??= classifyFailure(thrown, signal);
  }
  await world.store.sync();
  return seal(world, spec, draft, startedAt, watch);
}

async function phases(context: Context, gateway: (() => Promise<GatewaySet>) | null): Promise<void> {
  const { world, spec, trialId, sets, watch, draft, signal } = context;
  await using stack = new AsyncStack();
  const { task } = spec;
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
          if (set !== null && index === task.steps.length - 1) gatewayEnds = finishQuietly(set);
        },
      );
      if (last) break;
    }
  } finally {
    if (set !== null) await watch.time("gateway", () => sealGateway(context, set, gatewayEnds));
  }
}

async function* stepFiles(context: Context, index: number, jobs: readonly StepJob[], workdir: string) {
  yield* fileEntries(context.sets.steps[index]?.workdir ?? [], workdir);
  yield* jobs[index]?.files() ?? [];
}

interface StepWork {
  readonly container: Container;
  readonly set: GatewaySet | null;
  readonly step: Step;
  readonly index: number;
  readonly job: StepJob | undefined;
  readonly environmentEnv: Readonly<Record<string, string>>;
  readonly workdir: string;
}

/** Runs and grades one step; true when the trial ends with it. */
async function runStep(context: Context, work: StepWork, agentEnded: () => void): Promise<boolean> {
  const { world, spec, watch, draft, signal } = context;
  const { container, set, step, job } = work;
  // A static trap is files in a container that never runs.
  const dormant = spec.agent.kind === "trap" && spec.agent.trap.kind === "artifacts";
  const record = emptyStep(step.name);
  draft.steps.push(record);
  if (!dormant) await watch.time("provision", () => startStep(context, work));
  if (job?.job != null) {
    const agentJob = job.job;
    set?.link.send({ do: "agent-started" });
    const run = await watch.time("agent", () =>
      runAgent(world, container, agentJob, agentLimits(spec, step), set?.link ?? null, signal),
    );
    set?.link.send({ do: "agent-ended" });
    record.agentEnd = run.end;
    record.agentOutput = run.output;
    judgeTrouble(spec, run);
  } else if (!dormant) {
    await watch.time("agent", () => container.kill({ signal }));
    record.agentEnd = { by: "self", exitCode: null, detail: null };
  }
  agentEnded();
  const collected = await watch.time("collect", () => collectStep(context, work));
  record.artifacts = collected.artifacts;
  record.refused = collected.refused;
  record.planted = collected.planted;
  await watch.time("verify", () => gradeStep(context, work, record));
  if (record.rewards !== null) draft.verified.push(record.rewards);
  if (record.cause !== null) return true;
  const missed = missedGates(step.minReward, record.rewards ?? {});
  for (const { key, minimum, value } of missed) {
    draft.observations.push(
      `step ${step.name} missed its gate: ${key} is ${value ?? "absent"}, at least ${minimum} is needed`,
    );
  }
  return missed.length > 0;
}

async function startStep(context: Context, { container, step, index }: StepWork): Promise<void> {
  const { world, spec, signal } = context;
  await container.start({ signal });
  const { user } = step.agent;
  if (index === 0 && spec.task.environment.healthcheck !== null) {
    await awaitHealthy(world, container, spec.task.environment.healthcheck, user, signal);
  }
  if (step.setupScript) await runSetup(world, container, user, signal);
  if (step.healthcheck !== null) await awaitHealthy(world, container, step.healthcheck, user, signal);
}

async function runSetup(
  world: TrialWorld,
  container: Container,
  user: string | null,
  signal: AbortSignal,
): Promise<void> {
  const output = createCapture({ headBytes: 0, tailBytes: 4096 });
  const result = await container.exec({
    argv: ["/bin/sh", "-c", "./setup.sh"],
    ...(user === null ? {} : { user }),
    stdout: output.write,
    stderr: output.write,
    clock: world.clock,
    signal,
  });
  if (result.exitCode !== 0) {
    throw new TrialFailure(
      "infra_error",
      "SETUP_FAILED",
      `the step's setup.sh ended with exit code ${result.exitCode ?? "unknown"}: ${tailText(output.captured()).trim()}`,
    );
  }
}

function agentLimits(spec: TrialSpec, step: Step): AgentLimits {
  const own = step.agent.timeoutMicros;
  const study = spec.budgets?.agentSeconds == null ? null : spec.budgets.agentSeconds * 1_000_000;
  const time =
    study !== null && (own === null || study < own)
      ? { micros: study, of: "study" as const }
      : own === null
        ? null
        : { micros: own, of: "task" as const };
  return { time, storageBytes: spec.task.environment.storageBytes };
}

async function collectStep(context: Context, { container, step, workdir }: StepWork) {
  const { world, draft, signal } = context;
  const state = await container.state({ signal });
  if (state.oomKilled) draft.observations.push("a process in the agent's container was ended for lack of memory");
  return collect(container, world.store, step.artifacts, workdir, signal);
}

async function finishQuietly(set: GatewaySet): Promise<void> {
  await finishGateway(set, AbortSignal.timeout(GATEWAY_END_MS));
}

async function sealGateway(context: Context, set: GatewaySet, ending: Promise<void> | null): Promise<void> {
  const { world, spec, draft } = context;
  // The trial may be aborted; its evidence is still taken, within a time of its own.
  const signal = AbortSignal.timeout(GATEWAY_END_MS);
  try {
    await (ending ?? finishGateway(set, signal)).catch(() => undefined);
    const { cassette: _recorded, ...evidence } = await takeGatewayEvidence(set, world.store, signal);
    draft.gateway = evidence;
    if (!context.signal.aborted) draft.failure ??= await judgeCondition(world.store, spec, evidence);
  } catch (thrown) {
    if (stopsRun(thrown)) throw thrown;
    draft.failure ??= classifyFailure(thrown, context.signal);
  }
}

function resolve({ spec }: Context, templates: EnvTemplates): Readonly<Record<string, string>> {
  const allow = new Set(Object.keys(spec.hostVariables));
  return resolveEnv(templates, { allow, host: spec.hostVariables }).env;
}

function emptyStep(name: string): StepRecord {
  return {
    name,
    agentEnd: null,
    agentOutput: null,
    artifacts: [],
    refused: [],
    planted: [],
    submission: { unknown: "missing", detail: "the trial ended before the submission was checked" },
    verifier: null,
    rewards: null,
    failedCheck: null,
    cause: null,
  };
}

function seal(world: TrialWorld, spec: TrialSpec, draft: Draft, startedAt: string, watch: Stopwatch): TrialRecord {
  const rewards = combineSteps(spec.task.rewardStrategy, spec.task.steps.length, draft.verified);
  const reward = draft.failure === null ? (rewards[spec.task.runner.rewardKey] ?? null) : null;
  const { agent } = spec;
  return {
    schemaVersion: "1",
    number: spec.number,
    attempt: spec.attempt,
    task: spec.task.id,
    taskDigest: spec.taskDigest,
    condition: spec.condition,
    repetition: spec.repetition,
    agent:
      agent.kind === "model"
        ? { name: agent.agent.name, version: agent.agent.version }
        : { name: agentName(agent), version: null },
    modelSource: spec.model === null ? "none" : (spec.model.cassette?.source ?? "live"),
    outcome: draft.failure?.outcome ?? "scored",
    cause: draft.failure?.cause ?? null,
    reward,
    rewards: draft.failure === null ? rewards : null,
    steps: draft.steps,
    images: {
      environment: spec.environment.id,
      ...Object.fromEntries(
        spec.verifiers.flatMap((image, index) => (image === null ? [] : [[`verifier-${index + 1}`, image.id]])),
      ),
      ...(draft.gateway === null ? {} : { gateway: world.gatewayImage }),
      ...(spec.condition === "treatment" && spec.mcp !== null ? { mcp: spec.mcp.image } : {}),
    },
    gateway: draft.gateway,
    elapsed: watch.elapsed(),
    observations: draft.observations,
    startedAt,
    finishedAt: world.clock.wall(),
  };
}

function agentName(agent: Exclude<TrialSpec["agent"], { kind: "model" }>): string {
  return agent.kind === "trap" ? `trap:${agent.trap.name}` : agent.kind;
}
