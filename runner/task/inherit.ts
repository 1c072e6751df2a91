import { join } from "node:path";
import { mergeArtifacts } from "./config/artifacts.ts";
import type { EnvironmentSettings } from "./config/environment.ts";
import type { TaskConfig } from "./config/read-config.ts";
import type { StepSettings } from "./config/steps.ts";
import { isDirectory, isFile, listFolder } from "./files.ts";
import type { AgentPhase, EnvironmentSpec, ImageSource, Step, VerifierPhase } from "./model.ts";

const DEFAULT_VERIFIER_TIMEOUT_MICROS = 600_000_000;

/** Where an environment's image comes from: compose before `docker_image` before `Dockerfile`. */
export async function resolveImage(settings: EnvironmentSettings, context: string): Promise<ImageSource> {
  const compose = join(context, "docker-compose.yaml");
  if (await isFile(compose)) return { kind: "compose", file: compose };
  const dockerfile = await isFile(join(context, "Dockerfile"));
  if (settings.dockerImage !== null) {
    const upload = !dockerfile && (await listFolder(context)).length > 0;
    return { kind: "image", reference: settings.dockerImage, upload: upload ? context : null };
  }
  return dockerfile ? { kind: "dockerfile", context } : { kind: "missing", context };
}

/** Puts an image beside its settings. */
export async function toEnvironment(settings: EnvironmentSettings, context: string): Promise<EnvironmentSpec> {
  const { dockerImage: _dockerImage, ...rest } = settings;
  return { image: await resolveImage(settings, context), ...rest };
}

/** The agent phase of a step: its own values before the task's before the environment's baseline. */
export function resolveAgent(config: TaskConfig, step: StepSettings | null): AgentPhase {
  return {
    timeoutMicros: step?.agent.timeoutMicros ?? config.agent.timeoutMicros,
    user: step?.agent.user ?? config.agent.user,
    network: step?.agent.network ?? config.agent.network ?? config.environment.network,
  };
}

/** Which verifier a step has: its own mode, else its own environment, else the task's mode, else the task's environment, else shared. */
export function resolveMode(config: TaskConfig, step: StepSettings | null): "shared" | "separate" {
  if (step?.verifier.mode != null) return step.verifier.mode;
  if (step?.verifier.environment != null) return "separate";
  return config.verifier.mode ?? (config.verifier.environment === null ? "shared" : "separate");
}

/**
 * The verifier phase of a step. A separate verifier without an environment of its own takes the agent environment's settings with
 * `tests/` as the build context. The context of a step is its own tests folder, where it has one.
 */
export async function resolveVerifier(
  config: TaskConfig,
  step: StepSettings | null,
  testsDirs: readonly string[],
  testsContext: string,
): Promise<VerifierPhase> {
  const mode = resolveMode(config, step);
  const base = {
    timeoutMicros: verifierTimeout(config, step),
    user: step?.verifier.user ?? config.verifier.user,
    env: { ...config.verifier.env, ...step?.verifier.env },
    collect: [...config.verifier.collect, ...(step?.verifier.collect ?? [])],
  };
  const phase = step?.verifier.network ?? config.verifier.network;
  if (mode === "shared") {
    const network = phase ?? config.environment.network;
    return { mode, ...base, network, environment: null, tests: "copied" };
  }
  const settings = step?.verifier.environment ?? config.verifier.environment ?? config.environment;
  const resolved = await toEnvironment(settings, testsDirs.at(-1) ?? testsContext);
  // The tests folder is the hidden half: it goes to /tests, never to the working directory.
  const image = resolved.image.kind === "image" ? { ...resolved.image, upload: null } : resolved.image;
  const hasScript = await someFile(testsDirs, "test.sh");
  return {
    mode,
    ...base,
    network: phase ?? settings.network,
    environment: { ...resolved, image },
    tests: image.kind === "image" && hasScript ? "copied" : "baked",
  };
}

/**
 * Harbor gives a step without its own limit 600 seconds, whatever the task says. Here it gets the larger of that and the task's limit: no
 * bundle gets less time than under Harbor, and a task that asks for more is heard.
 */
function verifierTimeout(config: TaskConfig, step: StepSettings | null): number {
  const stated = config.verifier.timeoutMicros;
  if (step === null) return stated ?? DEFAULT_VERIFIER_TIMEOUT_MICROS;
  return step.verifier.timeoutMicros ?? Math.max(stated ?? 0, DEFAULT_VERIFIER_TIMEOUT_MICROS);
}

/** True when one of the folders holds a regular file of that name. */
export async function someFile(dirs: readonly string[], name: string): Promise<boolean> {
  for (const dir of dirs) if (await isFile(join(dir, name))) return true;
  return false;
}

/** Folders of a step: the task's, then the step's own, those that exist. */
export async function existing(dirs: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const dir of dirs) if (await isDirectory(dir)) found.push(dir);
  return found;
}

/** Joins what the task and the step say into one step. */
export async function resolveStep(
  config: TaskConfig,
  step: StepSettings | null,
  parts: {
    readonly instruction: string;
    readonly instructionFile: string;
    readonly testsDirs: readonly string[];
    readonly solutionDirs: readonly string[];
    readonly workdirFiles: string | null;
  },
  /** The tests folder to name when none exists. */
  testsContext: string,
): Promise<Step> {
  return {
    name: step?.name ?? "main",
    ...parts,
    agent: resolveAgent(config, step),
    verifier: await resolveVerifier(config, step, parts.testsDirs, testsContext),
    healthcheck: step?.healthcheck ?? null,
    artifacts: mergeArtifacts(config.context, [config.artifacts, step?.artifacts ?? []]),
    minReward: step?.minReward ?? null,
    setupScript: parts.workdirFiles !== null && (await isFile(join(parts.workdirFiles, "setup.sh"))),
  };
}
