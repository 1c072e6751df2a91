import { messageOf, RunnerError } from "../base/errors.ts";
import { AsyncStack } from "../base/stack.ts";
import { type PackEntry, packArchive } from "../docker/archive/pack.ts";
import { type Container, createContainer } from "../docker/container.ts";
import type { ContainerSpec } from "../docker/container-spec.ts";
import type { AnonymousVolume } from "../docker/filesystem.ts";
import { createVolume } from "../docker/volume.ts";
import type { FileList } from "../task/file-sets.ts";
import type { EnvironmentSpec, Step } from "../task/model.ts";
import { MAX_REWARD_BYTES, readReward } from "../task/reward.ts";
import { MAX_VERDICT_BYTES, readVerdict } from "../task/verdict.ts";
import { artifactEntries } from "./collect.ts";
import { limitsOf, TASK_CAPABILITIES } from "./confinement.ts";
import { startDeadline } from "./deadline.ts";
import { unreadDecisive } from "./decisive.ts";
import { TrialFailure } from "./failure.ts";
import { fileEntries } from "./files.ts";
import { captureOutput } from "./output-capture.ts";
import type { PhaseNetwork } from "./phase-network.ts";
import type { ArtifactRecord, Cause, StepRecord } from "./record.ts";
import { type LogFile, readVerifierLogs, VERIFIER_LOGS } from "./verifier-logs.ts";
import { type TrialWorld, trialLabels } from "./world.ts";

/** What is graded, and by what. */
export interface Grading {
  readonly trialId: string;
  readonly step: Step;
  /** Steps of the task. */
  readonly steps: number;
  readonly rewardKey: string;
  /** Image of the separate verifier, or of the dead agent container's snapshot. */
  readonly image: string;
  readonly mode: "separate" | "shared-filesystem";
  readonly environment: EnvironmentSpec;
  readonly env: Readonly<Record<string, string>>;
  readonly tests: FileList;
  /** Given to a separate verifier; a shared one has the filesystem. */
  readonly artifacts: readonly ArtifactRecord[];
  /** Where the verifier starts. */
  readonly workdir: string;
  /** The agent container's image volumes, which a snapshot does not hold. */
  readonly volumes: readonly AnonymousVolume[];
  readonly network: PhaseNetwork;
}

/** The verdict on one step. */
export interface Graded {
  readonly verifier: NonNullable<StepRecord["verifier"]>;
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly primary: number | null;
  readonly failedCheck: string | null;
  /** Why there is no reward. */
  readonly fault: { readonly outcome: "verifier_error" | "invalid_task"; readonly cause: Cause } | null;
  readonly oomKilled: boolean;
}

const TESTS = "/tests";
const SCRIPT = `${TESTS}/test.sh`;
/**
 * Grades once in a fresh container that did not exist while the agent lived. `/tests` and `/logs/verifier` are new volumes, so that
 * nothing an image or an agent left there is seen, and the reward is read from the dead container by archive copy.
 */
export async function grade(world: TrialWorld, grading: Grading, signal: AbortSignal): Promise<Graded> {
  await using stack = new AsyncStack();
  const labels = trialLabels(world, grading.trialId, "verifier");
  const copied = grading.step.verifier.tests === "copied";
  const [logs, tests] = await Promise.all([
    createVolume(world.engine, { labels, signal }),
    copied ? createVolume(world.engine, { labels, signal }) : null,
  ]);
  stack.use(logs);
  if (tests !== null) stack.use(tests);
  const mounts = [
    ...grading.volumes.map(({ name, target }) => ({ volume: name, target })),
    { volume: logs.name, target: VERIFIER_LOGS, noCopy: true },
    ...(tests === null ? [] : [{ volume: tests.name, target: TESTS, noCopy: true }]),
  ];
  const container = stack.use(await createContainer(world.engine, verifierSpec(grading, labels, mounts), { signal }));
  // An artifact of another type than what the verifier's image has at its place replaces that.
  await container.putArchive(packArchive(filesFor(world, grading, copied)), "/", { signal, replace: true });
  if (!copied) await requireBakedScript(container, signal);
  return await run(world, container, grading, signal);
}

function verifierSpec(
  grading: Grading,
  labels: ContainerSpec["labels"],
  mounts: NonNullable<ContainerSpec["mounts"]>,
): ContainerSpec {
  const { user } = grading.step.verifier;
  return {
    image: grading.image,
    // A shell starts the script, so that one without a `#!` line runs as it does elsewhere; and it goes to the working directory itself,
    // because an agent may have left something there that is no folder, which would keep the container from starting.
    entrypoint: ["/bin/sh", "-c", `cd "$1"; ${SCRIPT}`, "sh", grading.workdir],
    command: [],
    env: [...grading.network.env, ...Object.entries(grading.env).map(([name, value]) => `${name}=${value}`)],
    ...(user === null ? {} : { user }),
    workdir: "/",
    labels,
    network: grading.network.network,
    networks: grading.network.networks,
    mounts,
    limits: limitsOf(grading.environment),
    capAdd: TASK_CAPABILITIES,
  };
}

async function* filesFor(world: TrialWorld, grading: Grading, copied: boolean): AsyncGenerator<PackEntry> {
  // A separate verifier finds the artifacts where the agent left them; the logs folder is its own.
  if (grading.mode === "separate") {
    yield* artifactEntries(
      grading.artifacts.filter(({ path }) => path !== VERIFIER_LOGS && !path.startsWith(`${VERIFIER_LOGS}/`)),
      world.store,
    );
  }
  if (copied) yield* fileEntries(grading.tests);
  yield { path: VERIFIER_LOGS.slice(1), type: "directory", mode: 0o777 };
}

async function requireBakedScript(container: Container, signal: AbortSignal): Promise<void> {
  const script = await container.getArchive(SCRIPT, { signal });
  script?.destroy();
  if (script === null) {
    throw new TrialFailure(
      "invalid_task",
      "VERIFIER_HAS_NO_TESTS",
      `the verifier's image holds no ${SCRIPT}, and the task has none to copy`,
    );
  }
}

async function run(world: TrialWorld, container: Container, grading: Grading, signal: AbortSignal): Promise<Graded> {
  using stdout = captureOutput(world.store);
  using stderr = captureOutput(world.store);
  const attachment = await container.attach({ stdout: stdout.sink, stderr: stderr.sink });
  await start(container, grading.mode, signal);
  using deadline = startDeadline(grading.step.verifier.timeoutMicros);
  const ended = await Promise.race([
    container.wait({ signal }).then(() => "self" as const),
    deadline.over.then(() => "timeout" as const),
  ]);
  const state = ended === "timeout" ? await container.kill({ signal }) : await container.state({ signal });
  await attachment.ended;
  signal.throwIfAborted();
  const output = { stdout: await stdout.finish(), stderr: await stderr.finish() };
  const { files, refused } = await readVerifierLogs(world.store, container, grading.steps, signal);
  const verifier: Graded["verifier"] = {
    mode: grading.mode,
    image: grading.image as Graded["verifier"]["image"],
    endedBy: ended,
    exitCode: ended === "timeout" ? null : state.exitCode,
    ...output,
    files: files.map(({ path, content }) => ({ path, content })),
    ...(refused.length === 0 ? {} : { refused }),
  };
  const lastWords = [stdout.lastWords(), stderr.lastWords()].filter((words) => words !== "").join("\n");
  const none = { verifier, rewards: null, primary: null, oomKilled: state.oomKilled };
  const fault = (code: string, detail: string): Graded => ({
    ...none,
    failedCheck: null,
    fault: {
      outcome: "verifier_error",
      cause: { code, detail: `${detail}${lastWords === "" ? "" : `; its last words: ${lastWords}`}` },
    },
  });
  if (ended === "timeout") {
    return fault("VERIFIER_TIMEOUT", `the verifier did not end within ${grading.step.verifier.timeoutMicros / 1e6} s`);
  }
  // A reward file that is a link, or too large to be read, is no absent one: the other must not be taken in its stead.
  const unread = unreadDecisive(refused);
  if (unread !== undefined) return fault("REWARD_UNREADABLE", `${unread.path} was refused: ${unread.reason}`);
  return judge(files, grading.rewardKey, none, fault, state.exitCode);
}

async function start(container: Container, mode: Grading["mode"], signal: AbortSignal): Promise<void> {
  try {
    await container.start({ signal });
  } catch (thrown) {
    if (signal.aborted || !(thrown instanceof RunnerError) || !/exec|executable|no such file/i.test(thrown.message))
      throw thrown;
    throw new TrialFailure(
      // In the agent's own filesystem, a shell that is gone is the agent's doing.
      mode === "separate" ? "invalid_task" : "verifier_error",
      "VERIFIER_UNRUNNABLE",
      `the verifier could not be started: ${messageOf(thrown)}`,
      thrown,
    );
  }
}

function judge(
  files: readonly LogFile[],
  rewardKey: string,
  none: Pick<Graded, "verifier" | "rewards" | "primary" | "oomKilled">,
  fault: (code: string, detail: string) => Graded,
  exitCode: number | null,
): Graded {
  const find = (name: string): LogFile | undefined => files.find(({ path }) => path === `${VERIFIER_LOGS}/${name}`);
  // A file over its cap goes to the reader as bytes over its cap, which says so.
  const bytesOf = (file: LogFile | undefined, cap: number): Buffer | null =>
    file === undefined ? null : (file.bytes ?? Buffer.alloc(cap + 1));
  const reading = readReward(
    { json: bytesOf(find("reward.json"), MAX_REWARD_BYTES), txt: bytesOf(find("reward.txt"), MAX_REWARD_BYTES) },
    rewardKey,
  );
  if (reading.state === "fault") {
    return fault(
      `REWARD_${reading.cause.replaceAll("-", "_").toUpperCase()}`,
      `${reading.detail}; the verifier ended with exit code ${exitCode ?? "unknown"}`,
    );
  }
  const verdict = readVerdict(bytesOf(find("verdict.json"), MAX_VERDICT_BYTES));
  if (verdict.state === "invalid") return fault("VERDICT_INVALID", verdict.detail);
  return {
    ...none,
    rewards: reading.rewards,
    primary: reading.primary,
    failedCheck: verdict.state === "valid" ? verdict.verdict.failed : null,
    fault: null,
  };
}
