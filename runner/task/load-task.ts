import { basename, join, resolve } from "node:path";
import { messageOf, RunnerError } from "../base/errors.ts";
import { readConfig, type TaskConfig } from "./config/read-config.ts";
import type { StepSettings } from "./config/steps.ts";
import { isDirectory, isFile, readText } from "./files.ts";
import { existing, resolveMode, resolveStep, someFile, toEnvironment } from "./inherit.ts";
import { stripCanary } from "./instruction.ts";
import { findPlaces, problemAt, resolveJoins, type TaskPlaces } from "./layout.ts";
import type { Step, SubmissionContract, Task } from "./model.ts";
import type { Problem } from "./toml.ts";
import { readTraps } from "./traps.ts";

/** What one folder gave: a task, or everything that is wrong with it. */
export type TaskReading = { readonly task: Task } | { readonly problems: readonly Problem[] };

/**
 * Loads one task bundle or split-layout task.
 * @throws RunnerError `TASKS_INVALID` naming every problem with file, line and column.
 */
export async function loadTask(dir: string): Promise<Task> {
  const reading = await readTask(resolve(dir));
  if ("task" in reading) return reading.task;
  throw invalidTasks(reading.problems);
}

/** The one error for all problems of a load. */
export function invalidTasks(problems: readonly Problem[]): RunnerError {
  const lines = problems.map(formatProblem);
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  return new RunnerError("input", "TASKS_INVALID", `${count} in the tasks:\n${lines.join("\n")}`, {
    hint: "Correct the named places; no task was dropped and nothing was started.",
    details: {
      problems: problems.map(({ file, place, message }) => ({
        file,
        line: place?.line ?? null,
        column: place?.column ?? null,
        message,
      })),
    },
  });
}

/** `file:line:column: message`. */
export function formatProblem({ file, place, message }: Problem): string {
  return place === null ? `${file}: ${message}` : `${file}:${place.line}:${place.column}: ${message}`;
}

/** Reads a task folder (absolute) and gathers its problems instead of throwing; what the file system refuses is a problem too. */
export async function readTask(dir: string): Promise<TaskReading> {
  try {
    return await readParts(dir);
  } catch (thrown) {
    return { problems: [problemAt(dir, `cannot be read: ${messageOf(thrown)}`)] };
  }
}

async function readParts(dir: string): Promise<TaskReading> {
  const file = join(dir, "task.toml");
  if (!(await isFile(file)))
    return { problems: [problemAt(file, "there is no such file; a task needs its task.toml")] };
  const text = await readText(file);
  if (text === null) return { problems: [problemAt(file, "the bytes are not UTF-8")] };
  const read = readConfig(text, file);
  if (!("config" in read)) return read;
  const problems: Problem[] = [...read.problems];
  const { config } = read;
  const places = await findPlaces(dir);

  if (!(await isDirectory(join(dir, "environment")))) {
    problems.push(problemAt(join(dir, "environment"), "there is no such folder; a task needs its environment/"));
  }
  const runnerProblem = (key: string, message: string): void => {
    const place = config.context.document.place(["metadata", "runner", key]);
    problems.push({ file, place, message: `metadata.runner.${key}: ${message}` });
  };
  const submission = await findSubmission(dir, config);
  if (submission === null && config.runner.submission !== null) {
    runnerProblem("submission", "there is no environment/submission_schema.json to check it against");
  }
  for (const input of config.runner.publicInputs) {
    const path = join(dir, "environment", input);
    if (!(await isFile(path))) runnerProblem("public_inputs", `${path} is not there`);
  }
  const joins = await resolveJoins(dir, places, config.runner, runnerProblem);
  const settings: readonly (StepSettings | null)[] = config.steps.length === 0 ? [null] : config.steps;
  const steps: Step[] = [];
  // An unsafe or doubled step name is a problem already, and its folder must not be looked at.
  for (const step of read.problems.length > 0 ? [] : settings) {
    const result = await readStep(dir, places, config, step);
    problems.push(...result.problems);
    steps.push(result.step);
  }
  const traps = await readTraps(places.trapsDir);
  problems.push(...traps.problems);
  if (problems.length > 0) return { problems };

  const id = basename(dir);
  return {
    task: {
      id,
      name: config.name ?? id,
      version: config.version,
      description: config.description,
      dir,
      layout: places.layout,
      schemaVersion: config.schemaVersion,
      source: config.source,
      multiStep: config.steps.length > 0,
      rewardStrategy: config.rewardStrategy,
      environment: await toEnvironment(config.environment, join(dir, "environment")),
      steps,
      solutionEnv: config.solutionEnv,
      traps: traps.traps,
      submission,
      trajectories: await findTrajectories(dir, config),
      metadata: config.metadata,
      runner: config.runner,
      joins,
      warnings: config.context.warnings,
    },
  };
}

async function readStep(
  dir: string,
  places: TaskPlaces,
  config: TaskConfig,
  step: StepSettings | null,
): Promise<{ readonly step: Step; readonly problems: readonly Problem[] }> {
  const problems: Problem[] = [];
  const own = step === null ? null : join(dir, "steps", step.name);
  const instructionFile = join(own ?? dir, "instruction.md");
  const instruction = await readInstruction(instructionFile, problems);
  const testsDirs = await existing([places.testsDir, ...(own === null ? [] : [join(own, "tests")])]);
  const stepSolution = own === null ? [] : await existing([join(own, "solution")]);
  const solutionDirs = stepSolution.length > 0 ? stepSolution : await existing([places.solutionDir]);
  const [workdirFiles] = own === null ? [] : await existing([join(own, "workdir")]);
  const script = config.environment.os === "windows" ? "test.bat" : "test.sh";
  if (resolveMode(config, step) === "shared" && !(await someFile(testsDirs, script))) {
    const wanted = own === null ? [places.testsDir] : [join(own, "tests"), places.testsDir];
    const message = `there is no such file${own === null ? "" : `, nor one in ${places.testsDir}`}; a shared verifier needs its test script`;
    problems.push(problemAt(join(wanted[0] ?? places.testsDir, script), message));
  }
  if (places.layout === "split" && testsDirs.length === 0) {
    problems.push(problemAt(places.testsDir, "there is no such folder; a task of the split layout needs its verifier"));
  }
  const parts = { instruction, instructionFile, testsDirs, solutionDirs, workdirFiles: workdirFiles ?? null };
  const testsContext = own === null ? places.testsDir : join(own, "tests");
  return { step: await resolveStep(config, step, parts, testsContext), problems };
}

async function readInstruction(file: string, problems: Problem[]): Promise<string> {
  if (!(await isFile(file))) {
    problems.push(problemAt(file, "there is no such file; the agent needs its instruction"));
    return "";
  }
  const text = await readText(file);
  if (text === null) problems.push(problemAt(file, "the bytes are not UTF-8"));
  return stripCanary(text ?? "");
}

async function findSubmission(dir: string, config: TaskConfig): Promise<SubmissionContract | null> {
  const candidates = [join(dir, "environment", "submission_schema.json"), join(dir, "submission_schema.json")];
  for (const schemaFile of candidates) {
    if (!(await isFile(schemaFile))) continue;
    const artifact = config.artifacts.find(
      (spec) => spec.service === "main" && spec.source.startsWith("/") && spec.source.endsWith("submission.json"),
    );
    return { path: config.runner.submission ?? artifact?.source ?? "/app/submission.json", schemaFile };
  }
  return null;
}

async function findTrajectories(dir: string, config: TaskConfig): Promise<readonly string[]> {
  const [first] = config.steps;
  const file = first === undefined ? join(dir, "trajectory.json") : join(dir, "steps", first.name, "trajectory.json");
  return (await isFile(file)) ? [file] : [];
}
