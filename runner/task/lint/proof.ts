import { basename, join } from "node:path";
import type { Task } from "../model.ts";
import type { Found } from "./finding.ts";
import { isText, type TaskFile } from "./task-files.ts";

/** Fewest traps of a task of the split layout. */
export const LEAST_TRAPS = 3;

/** Checks what shows a task solvable and discriminating: oracle and traps. */
export function checkProof(task: Task, files: readonly TaskFile[]): readonly Found[] {
  return [...checkTraps(task, files), ...checkOracle(task, files)];
}

function checkTraps(task: Task, files: readonly TaskFile[]): readonly Found[] {
  const found: Found[] = [];
  const own = task.layout === "split";
  if (task.traps.length === 0 || (own && task.traps.length < LEAST_TRAPS)) {
    found.push({
      level: own ? "error" : "warning",
      rule: "traps-missing",
      file: task.dir,
      line: null,
      message: own
        ? `the task has ${task.traps.length} of at least ${LEAST_TRAPS} traps`
        : "the task has no traps, so nothing shows that its verifier rejects wrong work",
      hint: `Add wrong submissions to ${own ? `oracle/${task.id}/traps/` : "traps/"}, each with a trap.json.`,
    });
  }
  const code = files
    .filter((entry) => entry.role === "tests" && isText(entry.bytes))
    .map((entry) => entry.bytes.toString("utf8"));
  const writesVerdict = code.some((text) => text.includes("verdict.json"));
  for (const trap of task.traps) {
    if (!writesVerdict || code.some((text) => text.includes(trap.fails)) || isComposed(trap.fails, code)) continue;
    found.push({
      level: "warning",
      rule: "trap-check-unknown",
      file: join(trap.dir, "trap.json"),
      line: null,
      message: `the verifier never names the check ${JSON.stringify(trap.fails)} that the trap should fail`,
      hint: "Name a check of the verifier.",
    });
  }
  return found;
}

/** A dotted id may be put together from its parts. */
function isComposed(id: string, code: readonly string[]): boolean {
  return id.split(".").every((part) => code.some((text) => text.includes(part)));
}

function checkOracle(task: Task, files: readonly TaskFile[]): readonly Found[] {
  const found: Found[] = [];
  for (const step of task.steps) {
    const scripts = files.filter((entry) => step.solutionDirs.some((dir) => entry.file === join(dir, "solve.sh")));
    if (scripts.length > 0) continue;
    const where =
      step.solutionDirs[0] ??
      (task.multiStep ? join(task.dir, "steps", step.name, "solution") : join(task.dir, "solution"));
    found.push({
      level: task.layout === "split" ? "error" : "warning",
      rule: "oracle-missing",
      file: step.solutionDirs.length === 0 ? task.dir : join(where, "solve.sh"),
      line: null,
      message: `${task.multiStep ? `the step ${step.name}` : "the task"} has no reference solution: nothing shows that it can be solved`,
      hint: task.layout === "split" ? `Write oracle/${task.id}/solve.sh.` : "Write solution/solve.sh.",
    });
  }
  const wanted = basename(task.submission?.path ?? "submission.json");
  for (const entry of files) {
    if (entry.role !== "solution" || basename(entry.file) !== wanted) continue;
    found.push({
      level: task.layout === "split" ? "error" : "warning",
      rule: "oracle-stores-answer",
      file: entry.file,
      line: null,
      message: "the oracle holds a finished answer instead of computing it",
      hint: "Compute the answer from the input.",
    });
  }
  return found;
}
