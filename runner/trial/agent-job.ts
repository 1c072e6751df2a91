import type { PackEntry } from "../docker/archive/pack.ts";
import type { FileList, FileSets } from "../task/file-sets.ts";
import type { Step } from "../task/model.ts";
import { endEvidence } from "./agent-evidence.ts";
import { fileEntries } from "./files.ts";
import type { AgentJob } from "./run-agent.ts";
import type { TrialSpec } from "./spec.ts";

/** What one step's agent needs in the container, and what runs there; a null job does nothing. */
export interface StepJob {
  readonly files: () => AsyncGenerator<PackEntry>;
  readonly job: AgentJob | null;
}

/** Where a model-driven agent keeps its own files: outside of what tasks and verifiers use. */
export const AGENT_HOME = "/var/agent-home";
export const GATEWAY_URL = "http://gateway:8080";
const SOLVE = "/solution/solve.sh";

/** Says what the trial's agent does in a step. `solutionEnv` is the task's environment for its reference solution. */
export function stepJob(
  spec: TrialSpec,
  step: Step,
  index: number,
  sets: FileSets,
  solutionEnv: Readonly<Record<string, string>>,
): StepJob {
  const { agent } = spec;
  const { user } = step.agent;
  const script = (files: FileList): StepJob => ({
    files: () => fileEntries(files),
    job: {
      argv: ["/bin/sh", "-c", SOLVE],
      env: ["DEBIAN_FRONTEND=noninteractive", ...toLines(solutionEnv)],
      user,
    },
  });
  switch (agent.kind) {
    case "nop":
      return { files: noFiles, job: null };
    case "oracle":
      return script(sets.steps[index]?.solution ?? []);
    case "trap": {
      const files = sets.traps.find(({ trap }) => trap.name === agent.trap.name)?.files ?? [];
      return agent.trap.kind === "solve" ? script(files) : { files: () => fileEntries(files), job: null };
    }
    case "command":
      return { files: noFiles, job: { argv: ["/bin/sh", "-c", agent.command], env: [], user } };
    case "model":
      return modelJob(spec, step, agent.agent, agent.reasoningEffort);
  }
}

function modelJob(
  spec: TrialSpec,
  step: Step,
  agent: Extract<TrialSpec["agent"], { kind: "model" }>["agent"],
  reasoningEffort: string | null,
): StepJob {
  const launch = agent.launch({
    instruction: step.instruction,
    modelId: spec.model?.id ?? "",
    reasoningEffort,
    gatewayUrl: GATEWAY_URL,
    mcp: spec.condition === "treatment" && spec.mcp !== null ? { name: spec.mcp.name } : null,
    modelRequests: spec.budgets?.modelRequests ?? Number.MAX_SAFE_INTEGER,
    home: AGENT_HOME,
    runtime: agent.runtime,
    workdir: spec.task.environment.workdir ?? spec.environment.workdir,
  });
  async function* files(): AsyncGenerator<PackEntry> {
    // Whoever the image's user is, the home is theirs to write.
    yield { path: AGENT_HOME.slice(1), type: "directory", mode: 0o777 };
    for (const { path, content } of launch.files) yield { path: path.slice(1), type: "file", mode: 0o644, content };
  }
  const server = spec.mcp?.name ?? "";
  const job: AgentJob = {
    argv: launch.argv,
    env: toLines(launch.env),
    user: step.agent.user,
    explain: async (store, exitCode, output) =>
      agent.explainEnd(await endEvidence(store, agent, server, exitCode, output)),
  };
  return { files, job };
}

function toLines(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).map(([name, value]) => `${name}=${value}`);
}

async function* noFiles(): AsyncGenerator<PackEntry> {}
