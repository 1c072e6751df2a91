import type { EnvironmentSpec, Step, Task } from "./model.ts";

/** A named requirement that one Docker host with this runner cannot meet. */
export interface Refusal {
  readonly code:
    | "COMPOSE_ENVIRONMENT"
    | "COMPOSE_VERIFIER"
    | "NO_ENVIRONMENT_DEFINITION"
    | "NO_VERIFIER_DEFINITION"
    | "GPU"
    | "TPU"
    | "WINDOWS"
    | "MCP_SERVERS"
    | "SKILLS"
    | "TRAJECTORY"
    | "SIDECAR_ARTIFACT"
    | "SIDECAR_HOOK"
    | "NO_SOLUTION"
    | "PUBLIC_AGENT_NETWORK";
  /** The key or file that asks for it. */
  readonly subject: string;
  readonly message: string;
}

export interface RefusalOptions {
  /** A study that says `allowPublicNetwork`. Default false. */
  readonly allowPublicNetwork?: boolean;
}

/**
 * Lists every requirement that cannot be met, by name; an empty list means the task can run. `oracle` runs what needs no MCP server, skill
 * or prior trajectory for its reference solution; `execute` refuses those, and a public network in the agent phase.
 */
export function refusals(task: Task, purpose: "oracle" | "execute", options: RefusalOptions = {}): readonly Refusal[] {
  return [
    ...environmentRefusals(task.environment, "environment", purpose),
    ...task.steps.flatMap((step) => stepRefusals(task, step, purpose, options)),
    ...(purpose === "execute"
      ? task.trajectories.map((file): Refusal => {
          return { code: "TRAJECTORY", subject: file, message: "it seeds the agent with a prior trajectory" };
        })
      : []),
  ];
}

function environmentRefusals(
  environment: EnvironmentSpec,
  key: string,
  purpose: "oracle" | "execute",
): readonly Refusal[] {
  const found: Refusal[] = [];
  const isVerifier = key !== "environment";
  const { image } = environment;
  if (image.kind === "compose") {
    const code = isVerifier ? "COMPOSE_VERIFIER" : "COMPOSE_ENVIRONMENT";
    found.push({ code, subject: image.file, message: "it needs Docker Compose services, which are not started here" });
  }
  if (image.kind === "missing") {
    const code = isVerifier ? "NO_VERIFIER_DEFINITION" : "NO_ENVIRONMENT_DEFINITION";
    const message = `nothing defines the image: neither docker_image nor ${image.context}/Dockerfile`;
    found.push({ code, subject: key, message });
  }
  if (environment.gpus > 0) {
    const kinds = environment.gpuTypes.length > 0 ? ` (${environment.gpuTypes.join(", ")})` : "";
    found.push({
      code: "GPU",
      subject: `${key}.gpus`,
      message: `it needs ${environment.gpus} GPU${kinds}`,
    });
  }
  if (environment.tpu !== null) {
    const { type, topology } = environment.tpu;
    found.push({ code: "TPU", subject: `${key}.tpu`, message: `it needs a TPU (${type}, ${topology})` });
  }
  if (environment.os === "windows") {
    found.push({ code: "WINDOWS", subject: `${key}.os`, message: "it needs Windows containers" });
  }
  if (purpose === "oracle" || isVerifier) return found;
  if (environment.mcpServers.length > 0) {
    const names = environment.mcpServers.map((server) => server.name).join(", ");
    found.push({
      code: "MCP_SERVERS",
      subject: `${key}.mcp_servers`,
      message: `it brings MCP servers of its own (${names}); the condition alone decides which server an agent has`,
    });
  }
  if (environment.skillsDir !== null) {
    found.push({
      code: "SKILLS",
      subject: `${key}.skills_dir`,
      message: `it brings skills (${environment.skillsDir}); neither condition may have any`,
    });
  }
  return found;
}

function stepRefusals(
  task: Task,
  step: Step,
  purpose: "oracle" | "execute",
  options: RefusalOptions,
): readonly Refusal[] {
  const found: Refusal[] = [];
  const prefix = task.multiStep ? `steps.${step.name}.` : "";
  if (step.verifier.environment !== null) {
    found.push(...environmentRefusals(step.verifier.environment, `${prefix}verifier.environment`, purpose));
  }
  for (const artifact of step.artifacts) {
    if (artifact.service === "main") continue;
    found.push({
      code: "SIDECAR_ARTIFACT",
      subject: `${prefix}artifacts`,
      message: `it collects ${artifact.source} from the service ${artifact.service}, which is not started here`,
    });
  }
  for (const hook of step.verifier.collect) {
    if (hook.service === "main") continue;
    found.push({
      code: "SIDECAR_HOOK",
      subject: `${prefix}verifier.collect`,
      message: `it runs a collect hook in the service ${hook.service}, which is not started here`,
    });
  }
  if (purpose === "oracle" && step.solutionDirs.length === 0) {
    found.push({
      code: "NO_SOLUTION",
      subject: `${prefix}solution`,
      message: "there is no reference solution to run",
    });
  }
  if (purpose === "execute" && step.agent.network.mode === "public" && options.allowPublicNetwork !== true) {
    found.push({
      code: "PUBLIC_AGENT_NETWORK",
      subject: `${prefix}agent.network_mode`,
      message:
        'its agent phase has a public network; an agent that can fetch the server is no control (a study may say "allowPublicNetwork")',
    });
  }
  return found;
}
