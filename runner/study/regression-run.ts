import { dirname, join, relative, resolve } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Task } from "../task/model.ts";
import { executePlan } from "./execute.ts";
import { readLiveSurface } from "./lock-surface.ts";
import { makePlan } from "./make-plan.ts";
import { validateTasks } from "./oracle.ts";
import { CONDITIONS } from "./order.ts";
import { lockedServer, ownImages, taskFiles, taskImages } from "./regression-inputs.ts";
import type { LockedOutcome, LockedStudy, LockedTask, RegressionLock } from "./regression-lock.ts";
import { planRequestOf, type RunRequest } from "./run-request.ts";
import { selectTasks } from "./select-tasks.ts";
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
  /** A study whose model answers from cassettes, or whose agent asks none. */
  readonly study: LoadedStudy | null;
  /** What was locked of the study, for what cannot be told when it cannot be planned. */
  readonly locked: LockedStudy | null;
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
  /** A sentence for each run that was not made, and each task that its own validation refuses. */
  readonly problems: readonly string[];
}

/** Digests a dataset with its images, and runs `oracle`, `nop`, every trap and the study's replayed agents. */
export async function findRegressionState(options: RegressionOptions): Promise<RegressionFinding> {
  const { engine, images, out, report, signal, concurrency } = options;
  if (options.study !== null) requireReplay(options.study);
  const dataset = await loadDataset(options.dataset);
  const known = new Set(dataset.tasks.map(({ id }) => id));
  const names = options.tasks?.filter((name) => known.has(name)) ?? [...known];
  const tasks = names.length === 0 ? [] : selectTasks(dataset, names);
  const own = await readOwnImages(images, engine);
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
    locked[task.id] = await lockedTask(options, own, task, validation);
  }
  const study = options.study === null ? null : await studyState(options, options.study, problems);
  const named = study === null || options.study === null ? [] : namedImages(options.study);
  const lock: RegressionLock = {
    schemaVersion: "1",
    kind: "regression-lock",
    dataset: relative(dirname(options.lockFile), options.dataset),
    whole: options.tasks === null,
    tasks: locked,
    images: ownImages(own.lock, named),
    study,
  };
  return { lock, problems };
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

async function studyState(options: RegressionOptions, study: LoadedStudy, problems: string[]): Promise<LockedStudy> {
  const { engine, images, report, signal, concurrency, locked } = options;
  const { agent, model, conditions } = study.study;
  const { mcp } = conditions.treatment;
  report(`${study.path}: reading what ${mcp.name} advertises`);
  const surface = await readLiveSurface(engine, images, study, report, signal);
  const found = findAgent(agent.name);
  const version = typeof found === "string" ? null : found.version;
  const state: LockedStudy = {
    path: relative(dirname(options.lockFile), study.path),
    digest: await digestFile(study.path),
    agent: version === null ? agent.name : `${agent.name} ${version}`,
    model: model?.id ?? null,
    cassettes: locked?.cassettes ?? {},
    server: lockedServer(mcp.name, mcp.image, surface),
    outcomes: {},
  };
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
    signal.throwIfAborted();
    if (!(thrown instanceof RunnerError)) throw thrown;
    problems.push(`${state.path} was not run: ${messageOf(thrown)}`);
    return state;
  }
}

/** A live model answers as it likes, so nothing can be expected of it. */
function requireReplay({ path, study }: LoadedStudy): void {
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
