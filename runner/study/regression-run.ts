import { basename, dirname, join, relative, resolve } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import { isDirectoryOrLink } from "../task/files.ts";
import { findTaskFolders } from "../task/load-dataset.ts";
import { formatProblem, readTask } from "../task/load-task.ts";
import type { Task } from "../task/model.ts";
import { executePlan } from "./execute.ts";
import { readLiveSurface } from "./lock-surface.ts";
import { makePlan } from "./make-plan.ts";
import { validateTasks } from "./oracle.ts";
import { CONDITIONS } from "./order.ts";
import type { Fault } from "./regression-drift.ts";
import { lockedServer, ownImages, taskFiles, taskImages } from "./regression-inputs.ts";
import type { LockedOutcome, LockedStudy, LockedTask, RegressionLock } from "./regression-lock.ts";
import { planRequestOf, type RunRequest } from "./run-request.ts";
import type { LoadedStudy } from "./study-file.ts";
import { type ImageSettings, type OwnImages, planImages, readOwnImages } from "./task-images.ts";
import type { TaskValidation } from "./validate-task.ts";

export interface RegressionOptions {
  readonly engine: Engine;
  readonly images: ImageSettings;
  /** The lock's file, which the paths in it are relative to. */
  readonly lockFile: string;
  readonly dataset: string;
  /** Names of the tasks; null: all of the dataset. Those that the dataset has not got are left out. */
  readonly tasks: readonly string[] | null;
  /** A study that {@link requireReplay} lets through. */
  readonly study: LoadedStudy | null;
  /** What was locked, for what cannot be told of a study or a server that cannot be used. */
  readonly locked: RegressionLock | null;
  readonly concurrency: number;
  /** Where the evidence goes. */
  readonly out: string;
  readonly cwd: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A dataset as it is now, in the form of a lock, and why parts of it have no outcome. */
export interface RegressionFinding {
  readonly lock: RegressionLock;
  /** Inputs that cannot be used. */
  readonly faults: readonly Fault[];
  /** A sentence for each run that was not made, and each task that its own validation refuses. */
  readonly problems: readonly string[];
}

/**
 * Digests a dataset with its images, and runs `oracle`, `nop`, every trap and the study's replayed agents. An input that cannot be used is
 * a fault of that input; thrown is only what kept this machine from running anything.
 */
export async function findRegressionState(options: RegressionOptions): Promise<RegressionFinding> {
  const { engine, images, out, report, signal, concurrency } = options;
  const faults: Fault[] = [];
  const tasks = await readTasks(options, faults);
  const own = await readOwnImages(images, engine, null);
  const common = { engine, images, concurrency, report, signal };
  const validations =
    tasks.length === 0
      ? []
      : (await validateTasks({ ...common, tasks, repeat: 1, hostVariables: {}, out: join(out, "oracle") })).tasks;
  const problems = validations.flatMap(({ task, state, problems: found }) =>
    state === "valid" ? [] : [`${task} is ${state}: ${found.join("; ")}`],
  );
  const locked: Record<string, LockedTask> = {};
  for (const task of tasks) {
    const validation = validations.find((one) => one.task === task.id);
    try {
      locked[task.id] = await lockedTask(options, own, task, validation);
    } catch (thrown) {
      faults.push({ of: "task", name: task.id, why: faultOf(thrown, signal) });
    }
  }
  const study = options.study === null ? null : await studyState(options, options.study, problems, faults);
  const named = options.study === null ? Object.keys(options.locked?.images ?? {}) : namedImages(options.study);
  const lock: RegressionLock = {
    schemaVersion: "1",
    kind: "regression-lock",
    dataset: relative(dirname(options.lockFile), options.dataset),
    whole: options.tasks === null,
    tasks: locked,
    images: ownImages(own.lock, named),
    study,
  };
  return { lock, faults, problems };
}

/** What keeps this machine from running anything, whatever the inputs are. */
const CANNOT_RUN: readonly string[] = [
  ...["NO_DOCKER", "DOCKER_PERMISSION", "NO_SPACE", "EVIDENCE_WRITE"],
  ...["IMAGES_NOT_BUILT", "IMAGES_STALE", "IMAGES_GONE"],
];

/** What was thrown over an input, as its message. @throws what was thrown, where it was no input's fault. */
function faultOf(thrown: unknown, signal: AbortSignal): string {
  signal.throwIfAborted();
  if (thrown instanceof RunnerError && CANNOT_RUN.includes(thrown.code)) throw thrown;
  return messageOf(thrown);
}

/** The tasks that can be read, of those that are asked for. */
async function readTasks({ dataset, tasks }: RegressionOptions, faults: Fault[]): Promise<readonly Task[]> {
  const found: Task[] = [];
  for (const folder of (await isDirectoryOrLink(dataset)) ? await findTaskFolders(resolve(dataset)) : []) {
    const reading = await readTask(folder);
    const name = "task" in reading ? reading.task.id : basename(folder);
    if (tasks !== null && !tasks.includes(name)) continue;
    if ("task" in reading) found.push(reading.task);
    else faults.push({ of: "task", name, why: reading.problems.map(formatProblem).join("; ") });
  }
  return found;
}

/** The study of a lock, or of the operator, by its path. */
export function besideLock(lockFile: string, path: string): string {
  return resolve(dirname(lockFile), path);
}

async function lockedTask(
  { images, engine, report, signal }: RegressionOptions,
  own: OwnImages,
  task: Task,
  validation: TaskValidation | undefined,
): Promise<LockedTask> {
  const runs = validation?.runs ?? [];
  return {
    files: await taskFiles(task),
    images: taskImages(await planImages(images, own, engine, task, report, signal, false)),
    outcomes: Object.fromEntries(
      runs.map(({ role, outcome, reward, rewards, failedCheck, cause }): [string, LockedOutcome] => [
        role,
        { outcome, reward, rewards, failedCheck, cause: cause?.code ?? null },
      ]),
    ),
  };
}

function namedImages({ study }: LoadedStudy): string[] {
  const agent = findAgent(study.agent.name);
  const runtime = typeof agent === "string" || agent.npm === null ? [] : [agent.runtimeImage];
  return [study.conditions.treatment.mcp.image, ...runtime];
}

async function studyState(
  options: RegressionOptions,
  study: LoadedStudy,
  problems: string[],
  faults: Fault[],
): Promise<LockedStudy | null> {
  const { engine, images, report, signal, concurrency } = options;
  const locked = options.locked?.study ?? null;
  const { agent, model, conditions } = study.study;
  const { mcp } = conditions.treatment;
  report(`${study.path}: reading what ${mcp.name} advertises`);
  let server = locked?.server ?? null;
  try {
    server = lockedServer(mcp.name, mcp.image, await readLiveSurface(engine, images, study, report, signal));
  } catch (thrown) {
    faults.push({ of: "server", name: mcp.name, why: faultOf(thrown, signal) });
  }
  const silent = faults.some(({ of }) => of === "server");
  if (server === null) return null;
  const found = findAgent(agent.name);
  const version = typeof found === "string" ? null : found.version;
  const state: LockedStudy = {
    path: relative(dirname(options.lockFile), study.path),
    digest: await digestFile(study.path),
    agent: version === null ? agent.name : `${agent.name} ${version}`,
    model: model?.id ?? null,
    cassettes: locked?.cassettes ?? {},
    server,
    outcomes: {},
  };
  if (silent) {
    problems.push(`${state.path} was not run: its server does not answer`);
    return state;
  }
  const request: RunRequest = {
    study: study.path,
    tasks: [],
    repetitions: null,
    replay: null,
    agent: null,
    model: null,
    reasoningEffort: null,
    record: null,
    imageMap: [...images.maps],
    buildNetwork: images.buildNetwork,
    cwd: options.cwd,
  };
  const { projectRoot, env } = images;
  try {
    const prepared = await makePlan(
      planRequestOf(request, study, { engine, projectRoot, env, build: true, report, signal }),
    );
    const run = { engine, study, prepared, request, projectRoot, env, signal, concurrency, report };
    const runs = await executePlan({ ...run, conditions: CONDITIONS, out: join(options.out, "study") });
    const outcomes = runs
      .flatMap(({ rows }) => rows)
      .map(({ task, condition, repetition, outcome, reward, rewards, cause }): [string, LockedOutcome] => [
        `${task} ${condition} #${repetition}`,
        { outcome, reward, rewards: rewards === null ? null : { ...rewards }, failedCheck: null, cause },
      ]);
    return { ...state, cassettes: prepared.plan.cassettes, outcomes: Object.fromEntries(outcomes) };
  } catch (thrown) {
    if (!(thrown instanceof RunnerError)) throw thrown;
    problems.push(`${state.path} was not run: ${faultOf(thrown, signal)}`);
    return state;
  }
}

/** A live model answers as it likes, so nothing can be expected of it. @throws RunnerError `REGRESSION_LIVE`. */
export function requireReplay({ path, study }: LoadedStudy): void {
  if (study.model === undefined || study.model.replay !== undefined) return;
  throw new RunnerError(
    "usage",
    "REGRESSION_LIVE",
    `the model of ${path} answers live, so its outcomes cannot be locked`,
    {
      hint: "Record its conversations with `runner execute --record`, and name them as the study's `replay`.",
    },
  );
}
