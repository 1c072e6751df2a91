import { basename, resolve } from "node:path";
import { RunnerError } from "../../base/errors.ts";
import { isDirectoryOrLink } from "../files.ts";
import { findTaskFolders } from "../load-dataset.ts";
import { readTask } from "../load-task.ts";
import type { Finding } from "./finding.ts";
import { type LintOptions, lintTask } from "./lint-task.ts";

/** What the linter says about one task. */
export interface LintedTask {
  readonly id: string;
  readonly findings: readonly Finding[];
}

export interface DatasetLintOptions extends LintOptions {
  /** Only these ids. */
  readonly tasks?: ReadonlySet<string>;
}

/**
 * Lints every task of a folder. Unlike {@link loadDataset} it goes on past a task that does not load and reports its problems as findings of
 * the rule `load`.
 * @throws RunnerError `NO_TASKS` when the folder holds none, or none of the wanted ones.
 */
export async function lintDataset(dir: string, options: DatasetLintOptions = {}): Promise<readonly LintedTask[]> {
  const root = resolve(dir);
  const folders = (await isDirectoryOrLink(root)) ? await findTaskFolders(root) : [];
  const wanted = folders.filter((folder) => options.tasks === undefined || options.tasks.has(basename(folder)));
  const missing = [...(options.tasks ?? [])].filter((id) => !folders.some((folder) => basename(folder) === id));
  if (wanted.length === 0 || missing.length > 0) {
    const what = missing.length > 0 ? `no task ${missing.map((id) => JSON.stringify(id)).join(", ")}` : "no task";
    throw new RunnerError("input", "NO_TASKS", `${root} holds ${what}`, {
      hint: "Name a folder of task bundles and tasks in it.",
    });
  }
  const linted: LintedTask[] = [];
  for (const folder of wanted) {
    options.signal?.throwIfAborted();
    linted.push({ id: basename(folder), findings: await lintFolder(folder, options) });
  }
  return linted;
}

async function lintFolder(folder: string, options: LintOptions): Promise<readonly Finding[]> {
  const reading = await readTask(folder);
  if ("task" in reading) return lintTask(reading.task, options);
  return reading.problems.map((problem): Finding => {
    const column = problem.place === null ? "" : `column ${problem.place.column}: `;
    return {
      level: "error",
      rule: "load",
      task: basename(folder),
      file: problem.file,
      line: problem.place?.line ?? null,
      message: `${column}${problem.message}`,
      hint: "Correct it; a dataset with a task that does not load is refused whole.",
    };
  });
}
