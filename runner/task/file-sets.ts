import { lstat, readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { RunnerError } from "../base/errors.ts";
import type { Step, Task, Trap } from "./model.ts";

/** One file or folder that goes into a container. */
export interface FileEntry {
  /** Absolute POSIX path in the container; relative to the build context or working directory for those sets. */
  readonly target: string;
  /** Absolute path on the host; null for a folder that only the joining made. */
  readonly source: string | null;
  readonly type: "file" | "directory";
  /** 0o755 for folders, scripts and files with the owner's execute bit; 0o644 for every other file. */
  readonly mode: 0o644 | 0o755;
  /** The owner's execute bit on disk; it counts in digests. */
  readonly executable: boolean;
}

export type FileList = readonly FileEntry[];

/** What one step puts into containers. */
export interface StepFiles {
  readonly step: string;
  /** Everything below `/tests`. */
  readonly tests: FileList;
  /** Everything below `/solution`; empty when there is no oracle. */
  readonly solution: FileList;
  /** Files for the working directory (relative targets) before the step. */
  readonly workdir: FileList;
}

export interface TrapFiles {
  readonly trap: Trap;
  /** `solve`: everything below `/solution`, the trap's files over the oracle's. `artifacts`: absolute paths of the agent's container. */
  readonly files: FileList;
}

/** Every file a task puts into containers, sorted by target; nothing else of the task is copied. */
export interface FileSets {
  /** The build context (relative targets). */
  readonly environment: FileList;
  readonly steps: readonly StepFiles[];
  readonly traps: readonly TrapFiles[];
}

/**
 * Lists what goes where. `__pycache__`, `*.pyc` and `.DS_Store` are left out everywhere; the task's `.gitignore` hides nothing.
 * @throws RunnerError `TREE_LINK` or `TREE_SPECIAL` on anything that is not a file or a folder, `JOIN_CLASH` when shared code and the task's
 * own files claim one path, or one folder has a file where another has a folder.
 */
export async function fileSets(task: Task): Promise<FileSets> {
  return {
    environment: await listFiles([{ from: join(task.dir, "environment"), at: "" }]),
    steps: await Promise.all(task.steps.map((step) => stepFiles(task, step))),
    traps: await Promise.all(task.traps.map((trap) => trapFiles(task, trap))),
  };
}

async function stepFiles(task: Task, step: Step): Promise<StepFiles> {
  return {
    step: step.name,
    tests: await joined(task, "tests", step.testsDirs),
    solution: step.solutionDirs.length === 0 ? [] : await joined(task, "solution", step.solutionDirs),
    workdir: step.workdirFiles === null ? [] : await listFiles([{ from: step.workdirFiles, at: "" }]),
  };
}

async function joined(task: Task, into: "tests" | "solution", dirs: readonly string[]): Promise<FileList> {
  const own = await listFiles(dirs.map((from) => ({ from, at: `/${into}`, skipTop: skipTraps(task, from) })));
  const joins = task.joins.filter((entry) => entry.into === into);
  const shared = await listFiles(joins.map((entry) => ({ from: entry.from, at: `/${into}/${entry.at}` })));
  const files = new Set(own.filter((entry) => entry.type === "file").map((entry) => entry.target));
  const clash = shared.find((entry) => files.has(entry.target));
  if (clash !== undefined) {
    throw new RunnerError(
      "input",
      "JOIN_CLASH",
      `${task.id}: ${clash.source} and the task's own files both claim ${clash.target}`,
      {
        hint: "Rename the task's own file.",
      },
    );
  }
  return merge([own, shared]);
}

/** In the split layout the traps lie inside the oracle's folder and are no part of it. */
function skipTraps(task: Task, from: string): string | null {
  return task.layout === "split" && !task.multiStep && from.endsWith(`/oracle/${task.id}`) ? "traps" : null;
}

async function trapFiles(task: Task, trap: Trap): Promise<TrapFiles> {
  if (trap.kind === "artifacts") {
    return { trap, files: await listFiles([{ from: join(trap.dir, "artifacts"), at: "" }]).then(toAbsolute) };
  }
  const [step] = task.steps;
  const oracle = step === undefined ? [] : await joined(task, "solution", step.solutionDirs);
  const own = await listFiles([{ from: trap.dir, at: "/solution", skipTop: "trap.json" }]);
  return { trap, files: merge([oracle, own]) };
}

function toAbsolute(files: FileList): FileList {
  return files.map((entry) => ({ ...entry, target: `/${entry.target}` }));
}

interface Root {
  /** Absolute file or folder. */
  readonly from: string;
  /** Target of the root itself; empty for relative targets. */
  readonly at: string;
  /** A name directly below `from` to leave out. */
  readonly skipTop?: string | null;
}

/** Lists folders laid over each other: a later one's file replaces an earlier one's at the same target. */
async function listFiles(roots: readonly Root[]): Promise<FileList> {
  const lists: FileList[] = [];
  for (const root of roots) {
    const entries: FileEntry[] = [];
    await walk(root.from, root.at, root.skipTop ?? null, entries);
    lists.push(entries);
  }
  return merge(lists);
}

async function walk(source: string, target: string, skipTop: string | null, entries: FileEntry[]): Promise<void> {
  const info = await lstat(source);
  if (info.isSymbolicLink()) {
    throw new RunnerError("input", "TREE_LINK", `${source} is a symbolic link`, {
      hint: "Replace the link by the file itself: what is digested must be what runs.",
    });
  }
  if (info.isFile()) {
    const executable = (info.mode & 0o100) !== 0;
    const mode = executable || /\.(?:sh|bat)$/.test(target) ? 0o755 : 0o644;
    entries.push({ target, source, type: "file", mode, executable });
    return;
  }
  if (!info.isDirectory()) throw new RunnerError("input", "TREE_SPECIAL", `${source} is neither a file nor a folder`);
  if (target !== "") entries.push({ target, source, type: "directory", mode: 0o755, executable: false });
  for (const name of await readdir(source)) {
    if (name === skipTop || isLitter(name)) continue;
    await walk(join(source, name), target === "" ? name : `${target}/${name}`, null, entries);
  }
}

/** Names that tools leave behind; they reach no container and count in no digest. */
export function isLitter(path: string): boolean {
  const name = basename(path);
  return name === "__pycache__" || name === ".DS_Store" || name.endsWith(".pyc");
}

/** Joins lists by target, later ones first in rank, adds the folders in between and sorts by UTF-16 code units. */
function merge(lists: readonly FileList[]): FileList {
  const byTarget = new Map<string, FileEntry>();
  for (const entry of lists.flat()) {
    if (entry.source !== null || !byTarget.has(entry.target)) byTarget.set(entry.target, entry);
  }
  for (const target of [...byTarget.keys()]) {
    for (let end = target.lastIndexOf("/"); end > 0; end = target.lastIndexOf("/", end - 1)) {
      const folder = target.slice(0, end);
      const above = byTarget.get(folder);
      if (above?.type === "file") {
        throw new RunnerError(
          "input",
          "JOIN_CLASH",
          `${above.source} is a file where ${byTarget.get(target)?.source} needs a folder`,
          {
            hint: "Rename one of the two.",
          },
        );
      }
      if (above !== undefined) continue;
      byTarget.set(folder, { target: folder, source: null, type: "directory", mode: 0o755, executable: false });
    }
  }
  return [...byTarget.values()].sort((a, b) => (a.target < b.target ? -1 : a.target > b.target ? 1 : 0));
}
