import type { ExactJson } from "../base/json.ts";

/** Which of the two on-disk layouts a task has: a Harbor bundle, or the project's own with its hidden parts beside the dataset. */
export type Layout = "bundle" | "split";

export type NetworkMode = "no-network" | "public" | "allowlist";

/** What a phase may reach. `allowedHosts` is empty unless the mode is `allowlist`; entries are normalised, an empty list denies all. */
export interface NetworkPolicy {
  readonly mode: NetworkMode;
  readonly allowedHosts: readonly string[];
}

/** Names of environment variables with values that may be `${VAR}` or `${VAR:-default}` as a whole. */
export type EnvTemplates = Readonly<Record<string, string>>;

/** A command that must succeed before the agent starts. Times in microseconds. */
export interface Healthcheck {
  readonly command: string;
  readonly intervalMicros: number;
  readonly timeoutMicros: number;
  readonly startPeriodMicros: number;
  readonly startIntervalMicros: number;
  /** Consecutive failures that make it fail. */
  readonly retries: number;
}

/** One path to collect from the agent's container. */
export interface ArtifactSpec {
  /** POSIX path, absolute or relative to the working directory, without `..` and without a trailing slash. */
  readonly source: string;
  /** Where it goes below the artifacts folder; null stands for Harbor's default. */
  readonly destination: string | null;
  /** `tar --exclude` patterns. */
  readonly exclude: readonly string[];
  /** Compose service; `main` is the agent's container. */
  readonly service: string;
  /** True for `/logs/artifacts`, which is collected without being named. */
  readonly implicit: boolean;
}

/** A command run in a copy of the dead agent's container before artifacts are collected. */
export interface CollectHook {
  readonly command: string;
  readonly service: string;
  readonly timeoutMicros: number;
  readonly user: string | null;
}

export interface McpServer {
  readonly name: string;
  readonly transport: "sse" | "stdio" | "streamable-http";
  readonly url: string | null;
  readonly command: string | null;
  readonly args: readonly string[];
}

/** Where the image of an environment comes from. */
export type ImageSource =
  /** Build `Dockerfile` with the folder `context`. */
  | { readonly kind: "dockerfile"; readonly context: string }
  /** Use an image by reference; the files of `upload`, where not null, go to the working directory after the start. */
  | { readonly kind: "image"; readonly reference: string; readonly upload: string | null }
  /** A compose project, which is refused. */
  | { readonly kind: "compose"; readonly file: string }
  /** Nothing says which image. */
  | { readonly kind: "missing"; readonly context: string };

/** A container's settings, of the agent or of a separate verifier. Sizes in bytes, times in microseconds; null means not stated. */
export interface EnvironmentSpec {
  readonly image: ImageSource;
  readonly buildTimeoutMicros: number;
  readonly os: "linux" | "windows";
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly storageBytes: number | null;
  readonly gpus: number;
  readonly gpuTypes: readonly string[];
  readonly tpu: { readonly type: string; readonly topology: string } | null;
  /** The baseline; a phase may override it. */
  readonly network: NetworkPolicy;
  readonly env: EnvTemplates;
  readonly skillsDir: string | null;
  readonly healthcheck: Healthcheck | null;
  /** Overrides the image's WORKDIR for commands. */
  readonly workdir: string | null;
  readonly mcpServers: readonly McpServer[];
}

export interface AgentPhase {
  /** null: no limit of the task's own. */
  readonly timeoutMicros: number | null;
  /** null: the image's USER. */
  readonly user: string | null;
  readonly network: NetworkPolicy;
}

export interface VerifierPhase {
  readonly mode: "shared" | "separate";
  readonly timeoutMicros: number;
  readonly user: string | null;
  readonly network: NetworkPolicy;
  readonly env: EnvTemplates;
  readonly collect: readonly CollectHook[];
  /** The separate verifier's container; null when shared. */
  readonly environment: EnvironmentSpec | null;
  /**
   * Whether the runner copies the `/tests` files into the verifier's container. `baked`: the image built from the tests folder (or
   * named by `docker_image`, when the task has no test script) already holds them.
   */
  readonly tests: "copied" | "baked";
}

/** One step. A single-step task is one step named `main`. */
export interface Step {
  readonly name: string;
  /** The prompt, without leading canary comments. */
  readonly instruction: string;
  /** Absolute path of the instruction file. */
  readonly instructionFile: string;
  readonly agent: AgentPhase;
  readonly verifier: VerifierPhase;
  /** The step's own healthcheck, run after its `workdir/` is in place. The environment's is on `Task.environment`. */
  readonly healthcheck: Healthcheck | null;
  /** Task's and step's artifacts, `/logs/artifacts` first; sources are unique. */
  readonly artifacts: readonly ArtifactSpec[];
  /** Least value per reward key for the trial to go on; null when the step has no gate. */
  readonly minReward: Readonly<Record<string, number>> | null;
  /** Absolute folder whose files go to the working directory before the step, or null. */
  readonly workdirFiles: string | null;
  /** True when `workdirFiles` holds a `setup.sh` to run there. */
  readonly setupScript: boolean;
  /** Absolute folders laid over each other in this order to give `/tests`. */
  readonly testsDirs: readonly string[];
  /** Absolute folders laid over each other in this order to give `/solution`; empty when there is no oracle. */
  readonly solutionDirs: readonly string[];
}

/** A wrong submission that a good verifier rejects. */
export interface Trap {
  readonly name: string;
  /** Absolute folder. */
  readonly dir: string;
  /** The check that must fail. */
  readonly fails: string;
  readonly why: string;
  /** `solve`: its `solve.sh` runs as the agent. `artifacts`: its `artifacts/` tree stands for files of the agent's container. */
  readonly kind: "solve" | "artifacts";
}

/** The public submission contract. */
export interface SubmissionContract {
  /** Absolute path inside the agent's container. */
  readonly path: string;
  /** Absolute path of the JSON Schema on the host. */
  readonly schemaFile: string;
}

/** `[metadata.runner]`: the project's own settings. */
export interface RunnerMetadata {
  readonly verifierShared: readonly string[];
  readonly oracleShared: readonly string[];
  readonly formats: readonly string[];
  readonly submission: string | null;
  /** Files of `environment/`, relative, whose hidden copies are no leak. */
  readonly publicInputs: readonly string[];
  /** The reward key that is the primary reward. */
  readonly rewardKey: string;
}

/** Something the author should know; the load goes on. */
export interface TaskWarning {
  readonly code: "UNKNOWN_KEY" | "DEPRECATED_KEY" | "ARTIFACT_OVERLAP" | "NON_JSON_NUMBER";
  readonly file: string;
  /** 1-based, where the place is known. */
  readonly line: number | null;
  /** The key's dotted path, or the path concerned. */
  readonly subject: string;
  readonly message: string;
}

/** A loaded task: read, normalised and complete, with every default filled in. */
export interface Task {
  /** The folder's name, unique in its dataset. */
  readonly id: string;
  /** `[task].name`, or the id. */
  readonly name: string;
  readonly version: string | null;
  readonly description: string;
  /** Absolute folder of the agent-visible part. */
  readonly dir: string;
  readonly layout: Layout;
  readonly schemaVersion: string;
  readonly source: string | null;
  readonly multiStep: boolean;
  readonly rewardStrategy: "mean" | "final";
  readonly environment: EnvironmentSpec;
  readonly steps: readonly Step[];
  /** Environment of the reference solution. */
  readonly solutionEnv: EnvTemplates;
  readonly traps: readonly Trap[];
  readonly submission: SubmissionContract | null;
  /** `trajectory.json` files that seed prior context; such tasks are refused by `execute`. */
  readonly trajectories: readonly string[];
  /** `[metadata]` as written; integers beyond 2^53 - 1 are bigint, dates are ISO strings. */
  readonly metadata: Readonly<Record<string, ExactJson>>;
  readonly runner: RunnerMetadata;
  /** Hidden folders of the split layout and shared code, joined into `/tests` and `/solution` by {@link fileSets}. */
  readonly joins: readonly Join[];
  readonly warnings: readonly TaskWarning[];
}

/** A file or folder outside the task's own folders that goes below `/tests` or `/solution`. */
export interface Join {
  readonly into: "tests" | "solution";
  /** Path below the target, such as `shared/kernel`. */
  readonly at: string;
  /** Absolute file or folder. */
  readonly from: string;
}

export interface Dataset {
  /** Absolute folder. */
  readonly dir: string;
  /** Sorted by id. */
  readonly tasks: readonly Task[];
}
