import { lintDataset } from "../../../../runner/task/lint/lint-dataset.ts";
import { type LintOptions, lintTask } from "../../../../runner/task/lint/lint-task.ts";
import { loadTask } from "../../../../runner/task/load-task.ts";
import { makeFolder, minimal } from "../support.ts";

/** A quiet bundle: {@link minimal} with an honest verifier, an oracle and a trap, so that a test sees only what it asks for. */
export const quiet: Readonly<Record<string, string>> = {
  ...minimal,
  "tests/test.sh!":
    "#!/bin/bash\nif [ -s /app/answer.txt ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt\n",
  "solution/solve.sh!": "#!/bin/bash\necho x > /app/answer.txt\n",
  "traps/wrong/trap.json": '{"fails":"answer","why":"w"}',
  "traps/wrong/artifacts/app/answer.txt": "",
};

/** Findings as `level rule file:line: message`, with the folder's own path taken out. */
export async function lint(
  files: Readonly<Record<string, string | Uint8Array>>,
  options: LintOptions = {},
): Promise<string[]> {
  const dir = await makeFolder({ ...quiet, ...files });
  return lintFolder(dir, options);
}

/** {@link lint} for a folder that is there. */
export async function lintFolder(dir: string, options: LintOptions = {}): Promise<string[]> {
  const findings = await lintTask(await loadTask(dir), options);
  return findings.map(({ level, rule, file, line, message }) =>
    `${level} ${rule} ${file}${line === null ? "" : `:${line}`}: ${message}`
      .replaceAll(`${dir}/`, "")
      .replaceAll(dir, "."),
  );
}

/** {@link lint} for tasks of the split layout: files are named from the root that holds `tasks/`, the task is `t`. */
export async function lintSplit(files: Readonly<Record<string, string | Uint8Array>>): Promise<string[]> {
  const root = await makeFolder({ "verifiers/README.md": "", ...files });
  const linted = await lintDataset(`${root}/tasks`);
  return linted.flatMap(({ findings }) =>
    findings.map(({ level, rule, file, line, message }) =>
      `${level} ${rule} ${file}${line === null ? "" : `:${line}`}: ${message}`.replaceAll(`${root}/`, ""),
    ),
  );
}
