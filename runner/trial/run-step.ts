import { createCapture, tailText } from "../docker/capture.ts";
import type { Container } from "../docker/container.ts";
import type { Step } from "../task/model.ts";
import { missedGates } from "../task/step-rewards.ts";
import type { StepJob } from "./agent-job.ts";
import { collect } from "./collect.ts";
import type { TrialContext } from "./context.ts";
import { TrialFailure } from "./failure.ts";
import type { GatewaySet } from "./gateway-set.ts";
import { gradeStep } from "./grade-step.ts";
import { awaitHealthy } from "./healthcheck.ts";
import { judgeTrouble } from "./judge-condition.ts";
import type { StepRecord } from "./record.ts";
import { type AgentLimits, runAgent } from "./run-agent.ts";
import type { TrialSpec } from "./spec.ts";
import type { TrialWorld } from "./world.ts";

/** What one step works on. */
export interface StepWork {
  readonly container: Container;
  readonly set: GatewaySet | null;
  readonly step: Step;
  readonly index: number;
  readonly job: StepJob | undefined;
  readonly environmentEnv: Readonly<Record<string, string>>;
  readonly workdir: string;
}

/** Runs and grades one step; true when the trial ends with it. */
export async function runStep(context: TrialContext, work: StepWork, agentEnded: () => void): Promise<boolean> {
  const { world, spec, watch, draft, signal } = context;
  const { container, set, step, job } = work;
  // A static trap is files in a container that never runs.
  const dormant = spec.agent.kind === "trap" && spec.agent.trap.kind === "artifacts";
  const record = emptyStep(step.name);
  draft.steps.push(record);
  if (!dormant) await watch.time("provision", () => startStep(context, work));
  if (job?.job != null) {
    const agentJob = job.job;
    // One gateway serves every step: it is open from the first agent's start to the last one's end.
    set?.link.send({ do: "agent-started" });
    const run = await watch.time("agent", () =>
      runAgent(world, container, agentJob, agentLimits(spec, step), set?.link ?? null, signal),
    );
    if (work.index === spec.task.steps.length - 1) set?.link.send({ do: "agent-ended" });
    record.agentEnd = run.end;
    record.agentOutput = run.output;
    if (run.unwatched !== null) draft.observations.push(run.unwatched);
    judgeTrouble(run);
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

async function startStep(context: TrialContext, { container, step, index }: StepWork): Promise<void> {
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

async function collectStep(context: TrialContext, { container, step, workdir }: StepWork) {
  const { world, spec, draft, signal } = context;
  const state = await container.state({ signal });
  if (state.oomKilled) draft.observations.push("a process in the agent's container was ended for lack of memory");
  return collect(container, world.store, step.artifacts, workdir, spec.task.steps.length, signal);
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
