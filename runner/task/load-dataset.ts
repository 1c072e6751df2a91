import { join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { isDirectory, isDirectoryOrLink, isFile, listFolder } from "./files.ts";
import { invalidTasks, readTask } from "./load-task.ts";
import type { Dataset, Task } from "./model.ts";
import type { Problem } from "./toml.ts";

/**
 * Loads every task of a folder: the folder itself when it is one bundle, else its sub-folders with a `task.toml`. One unreadable task fails
 * the whole load; a sub-folder that looks like a task and has no `task.toml` counts as unreadable, because dropping it would change the
 * dataset silently.
 * @throws RunnerError `TASKS_INVALID` naming every problem of every task, `NO_TASKS` when there is none.
 */
export async function loadDataset(dir: string): Promise<Dataset> {
  const root = resolve(dir);
  if (!(await isDirectoryOrLink(root))) {
    throw new RunnerError("input", "NO_TASKS", `${root} is not a folder`, { hint: "Name a folder of task bundles." });
  }
  const problems: Problem[] = [];
  const tasks: Task[] = [];
  for (const reading of await Promise.all((await findTaskFolders(root)).map(readTask))) {
    if ("task" in reading) tasks.push(reading.task);
    else problems.push(...reading.problems);
  }
  if (problems.length > 0) throw invalidTasks(problems);
  if (tasks.length === 0) {
    throw new RunnerError("input", "NO_TASKS", `${root} holds no task: neither it nor a folder in it has a task.toml`, {
      hint: "Name a folder of task bundles, or one bundle.",
    });
  }
  return { dir: root, tasks };
}

/** The task folders of a dataset, sorted; a folder that looks like a task counts even without its `task.toml`. */
export async function findTaskFolders(root: string): Promise<readonly string[]> {
  if (await isFile(join(root, "task.toml"))) return [root];
  const found: string[] = [];
  for (const entry of await listFolder(root)) {
    const folder = join(root, entry.name);
    if (entry.name.startsWith(".") || !(await isDirectoryOrLink(folder))) continue;
    if ((await isFile(join(folder, "task.toml"))) || (await looksLikeTask(folder))) found.push(folder);
  }
  return found;
}

async function looksLikeTask(folder: string): Promise<boolean> {
  if (await isFile(join(folder, "instruction.md"))) return true;
  return (await isDirectory(join(folder, "environment"))) && (await isDirectory(join(folder, "tests")));
}
