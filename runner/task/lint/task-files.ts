import { lstat, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { isLitter } from "../file-sets.ts";
import type { Task } from "../model.ts";
import type { Found } from "./finding.ts";

/** Which half of a task a file belongs to: `environment` and `workdir` reach the agent, the others never may. */
export type FileRole = "environment" | "workdir" | "tests" | "solution" | "traps" | "formats";

export interface TaskFile {
  readonly role: FileRole;
  /** Absolute path on the host. */
  readonly file: string;
  /** Path below the folder that was walked. */
  readonly relative: string;
  readonly bytes: Buffer;
}

const WARN_BYTES = 10 * 1024 * 1024;
const ERROR_BYTES = 100 * 1024 * 1024;

/**
 * Reads every file of a task once, links and oversized files as findings. A file above 100 MiB is not read. Folders of git repositories are
 * listed apart, since their objects are compressed.
 */
export async function readTaskFiles(task: Task): Promise<{
  readonly files: readonly TaskFile[];
  readonly gitDirs: readonly string[];
  readonly found: readonly Found[];
}> {
  const files: TaskFile[] = [];
  const gitDirs: string[] = [];
  const found: Found[] = [];
  for (const [from, role] of roots(task)) await walk(from, "", role, { task, files, gitDirs, found });
  return { files, gitDirs, found };
}

function roots(task: Task): ReadonlyMap<string, FileRole> {
  const map = new Map<string, FileRole>([[join(task.dir, "environment"), "environment"]]);
  for (const step of task.steps) {
    if (step.workdirFiles !== null) map.set(step.workdirFiles, "workdir");
    for (const dir of step.testsDirs) map.set(dir, "tests");
    for (const dir of step.solutionDirs) map.set(dir, "solution");
  }
  for (const trap of task.traps) map.set(trap.dir, "traps");
  for (const { into, at, from } of task.joins) map.set(from, at.startsWith("formats/") ? "formats" : into);
  return map;
}

interface Walk {
  readonly task: Task;
  readonly files: TaskFile[];
  readonly gitDirs: string[];
  readonly found: Found[];
}

async function walk(file: string, relative: string, role: FileRole, state: Walk): Promise<void> {
  const info = await lstat(file);
  if (info.isSymbolicLink()) {
    state.found.push({
      level: "error",
      rule: "symlink",
      file,
      line: null,
      message: "a symbolic link: what is digested would not be what runs",
      hint: "Replace the link by the file itself.",
    });
  } else if (info.isDirectory()) {
    const names = (await readdir(file)).filter((name) => !isLitter(name)).sort();
    if (names.includes("HEAD") && names.includes("objects")) state.gitDirs.push(file);
    for (const name of names) {
      if (
        role === "solution" &&
        relative === "" &&
        state.task.traps.some((trap) => trap.dir.startsWith(`${join(file, name)}/`))
      )
        continue;
      await walk(join(file, name), relative === "" ? name : `${relative}/${name}`, role, state);
    }
  } else if (info.isFile()) {
    if (info.size > WARN_BYTES) {
      state.found.push({
        level: info.size > ERROR_BYTES ? "error" : "warning",
        rule: "large-file",
        file,
        line: null,
        message: `the file has ${info.size} bytes; every trial copies it or every build sends it`,
        hint: "Make it smaller, or generate it in the Dockerfile.",
      });
    }
    if (info.size <= ERROR_BYTES) state.files.push({ role, file, relative, bytes: await readFile(file) });
  }
}

/** True when the bytes hold no NUL in their first 8000 bytes, as git tells text from binary. */
export function isText(bytes: Uint8Array): boolean {
  return !bytes.subarray(0, 8000).includes(0);
}

/** The lines of a text file, without line ends. */
export function linesOf(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes).toString("utf8").split("\n");
}
