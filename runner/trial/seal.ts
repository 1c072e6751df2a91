import { combineSteps } from "../task/step-rewards.ts";
import type { Draft } from "./context.ts";
import type { TrialRecord } from "./record.ts";
import type { TrialSpec } from "./spec.ts";
import type { Stopwatch } from "./stopwatch.ts";
import type { TrialWorld } from "./world.ts";

/** Makes the record of a trial from what it found out. */
export function seal(
  world: TrialWorld,
  spec: TrialSpec,
  draft: Draft,
  startedAt: string,
  watch: Stopwatch,
): TrialRecord {
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
      ...(spec.unavailable === null ? taskImages(spec) : {}),
      ...(draft.gateway === null ? {} : { gateway: world.gatewayImage }),
      ...(spec.condition === "treatment" && spec.mcp !== null ? { mcp: spec.mcp.image } : {}),
    },
    gateway: draft.gateway,
    ...(draft.trajectory === undefined ? {} : { trajectory: draft.trajectory }),
    elapsed: watch.elapsed(),
    observations: draft.observations,
    startedAt,
    finishedAt: world.clock.wall(),
  };
}

function taskImages(spec: TrialSpec): TrialRecord["images"] {
  return {
    environment: spec.environment.id,
    ...Object.fromEntries(
      spec.verifiers.flatMap((image, index) => (image === null ? [] : [[`verifier-${index + 1}`, image.id]])),
    ),
  };
}

function agentName(agent: Exclude<TrialSpec["agent"], { kind: "model" }>): string {
  return agent.kind === "trap" ? `trap:${agent.trap.name}` : agent.kind;
}
