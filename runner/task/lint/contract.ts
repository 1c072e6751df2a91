import { posix } from "node:path";
import type { Step, Task } from "../model.ts";
import type { Found } from "./finding.ts";
import { isText, type TaskFile } from "./task-files.ts";

/** Checks that the instruction, the submission's path and what is collected agree. */
export function checkContract(task: Task, files: readonly TaskFile[]): readonly Found[] {
  return [
    ...checkSubmissionPath(task),
    ...task.steps.flatMap((step) => [...checkCollected(task, step), ...checkPaths(task, step, files)]),
  ];
}

function checkSubmissionPath(task: Task): readonly Found[] {
  if (task.submission === null) return [];
  const { path } = task.submission;
  const last = task.steps.at(-1);
  if (last === undefined) return [];
  const found: Found[] = [];
  const text = task.steps.map((step) => step.instruction).join("\n");
  const others = pathsIn(text).filter((named) => named !== path && posix.basename(named) === posix.basename(path));
  if (!pathsIn(text).includes(path)) {
    const instead = others.length === 0 ? "" : `; it names ${others.join(", ")} instead`;
    found.push({
      level: "error",
      rule: "submission-path",
      file: last.instructionFile,
      line: null,
      message: `the instruction does not name the submission's path ${path}${instead}`,
      hint: "Name the path, or set metadata.runner.submission to the one that is named.",
    });
  }
  if (
    last.verifier.mode === "separate" &&
    !last.artifacts.some((spec) => covers(spec.source, path, task.environment.workdir))
  ) {
    found.push({
      level: "error",
      rule: "nothing-collected",
      file: posix.join(task.dir, "task.toml"),
      line: null,
      message: `the submission ${path} is no artifact, so the separate verifier never sees it and an honest solution scores 0`,
      hint: `Add it: artifacts = ["${path}"].`,
    });
  }
  return found;
}

function covers(source: string, path: string, workdir: string | null): boolean {
  const absolute = source.startsWith("/") ? source : posix.join(workdir ?? "/app", source);
  return path === absolute || path.startsWith(absolute === "/" ? "/" : `${absolute}/`);
}

/** A separate verifier that gets nothing but an unnamed `/logs/artifacts` cannot see the work. */
function checkCollected(task: Task, step: Step): readonly Found[] {
  const only = step.artifacts.every((spec) => spec.implicit) && step.verifier.collect.length === 0;
  if (
    step.verifier.mode !== "separate" ||
    !only ||
    step.instruction.includes("/logs/artifacts") ||
    task.submission !== null
  )
    return [];
  return [
    {
      level: "error",
      rule: "nothing-collected",
      file: posix.join(task.dir, "task.toml"),
      line: null,
      message: `the separate verifier of the step ${step.name} gets no artifact, so an honest solution scores 0`,
      hint: "List what the agent writes in artifacts.",
    },
  ];
}

/** Absolute paths of files that a text names in code marks. */
function pathsIn(text: string): readonly string[] {
  const found = [...text.matchAll(/(?:^|[\s`("'])(\/[A-Za-z0-9_.][A-Za-z0-9_./-]*[A-Za-z0-9_])/gm)].map(
    (match) => match[1] ?? "",
  );
  return [...new Set(found)];
}

function checkPaths(task: Task, step: Step, files: readonly TaskFile[]): readonly Found[] {
  const visible = files.filter((entry) => entry.role === "environment" || entry.role === "workdir");
  const recipes = visible.filter((entry) => isText(entry.bytes)).map((entry) => entry.bytes.toString("utf8"));
  const names = new Set(visible.map((entry) => posix.basename(entry.relative)));
  const outputs = new Set([
    ...task.steps.flatMap((other) => other.artifacts.map((spec) => spec.source)),
    task.submission?.path ?? "",
  ]);
  const written = files
    .filter((entry) => entry.role === "solution" || entry.role === "tests")
    .map((entry) => entry.bytes.toString("utf8"));
  return pathsIn(step.instruction).flatMap((path): readonly Found[] => {
    const name = posix.basename(path);
    const isFile = name.includes(".") && path.startsWith("/app/");
    const known =
      names.has(name) ||
      name === posix.basename(task.submission?.path ?? "") ||
      outputs.has(path) ||
      [...recipes, ...written].some((text) => text.includes(name));
    if (!isFile || known) return [];
    return [
      {
        level: "warning",
        rule: "instruction-path",
        file: step.instructionFile,
        line: lineOf(step.instruction, path),
        message: `the instruction names ${path}, which no file of the environment, artifact, oracle or verifier knows`,
        hint: "Correct the path, or add the file.",
      },
    ];
  });
}

function lineOf(text: string, part: string): number {
  return text.slice(0, text.indexOf(part)).split("\n").length;
}
