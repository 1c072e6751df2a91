import { injectingVariables } from "../agent/injecting-variables.ts";
import { type PackEntry, packArchive } from "../docker/archive/pack.ts";
import { type Container, createContainer } from "../docker/container.ts";
import type { VolumeMount } from "../docker/container-spec.ts";
import { AGENT_HOME } from "./agent-job.ts";
import { KEEPER, limitsOf, TASK_CAPABILITIES } from "./confinement.ts";
import type { PhaseNetwork } from "./phase-network.ts";
import { requireFreshHome } from "./plants.ts";
import type { TrialSpec } from "./spec.ts";
import { type TrialWorld, trialLabels } from "./world.ts";

/** The agent's container, not started, and what was taken out of its environment. */
export interface AgentContainer {
  readonly container: Container;
  /** Names of variables that a model-driven agent does not get. */
  readonly dropped: readonly string[];
}

/** Folders that every agent's container has, writable by whoever the agent runs as. */
const LOG_FOLDERS = ["logs", "logs/agent", "logs/artifacts", "logs/verifier"];

/** Makes the agent's container from the task's image: a keeper as its main process, the image's own entrypoint and healthcheck unused. */
export async function createAgentContainer(
  world: TrialWorld,
  spec: TrialSpec,
  trialId: string,
  phase: PhaseNetwork,
  env: Readonly<Record<string, string>>,
  mounts: readonly VolumeMount[],
  files: AsyncIterable<PackEntry>,
  signal: AbortSignal,
): Promise<AgentContainer> {
  const { environment } = spec.task;
  const own = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), ...phase.env];
  // Only a model-driven agent is kept from them: for a solution script they are part of the task.
  const dropped = spec.agent.kind === "model" ? injectingVariables([...spec.environment.env, ...Object.keys(env)]) : [];
  const kept = own.filter((entry) => !dropped.includes(entry.split("=", 1)[0] ?? "") || phase.env.includes(entry));
  const removed = dropped.filter((name) => !phase.env.some((entry) => entry.startsWith(`${name}=`)));
  const container = await createContainer(
    world.engine,
    {
      ...KEEPER,
      image: spec.environment.id,
      env: [...kept, ...removed],
      ...(environment.workdir === null ? {} : { workdir: environment.workdir }),
      labels: trialLabels(world, trialId, "agent"),
      network: phase.network,
      networks: phase.networks,
      mounts,
      masks: spec.agent.kind === "model" ? spec.agent.agent.ambient.masked : [],
      limits: limitsOf(environment),
      capAdd: TASK_CAPABILITIES,
    },
    { signal },
  );
  try {
    if (spec.agent.kind === "model") await requireFreshHome(container, AGENT_HOME, signal);
    await container.putArchive(packArchive(withLogFolders(files)), "/", { signal });
  } catch (thrown) {
    await container[Symbol.asyncDispose]();
    throw thrown;
  }
  return { container, dropped: removed };
}

async function* withLogFolders(files: AsyncIterable<PackEntry>): AsyncGenerator<PackEntry> {
  for (const path of LOG_FOLDERS) yield { path, type: "directory", mode: 0o777 };
  yield* files;
}
