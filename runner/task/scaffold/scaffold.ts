import { chmod, mkdir, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { digestBytes } from "../../base/digest.ts";
import { RunnerError } from "../../base/errors.ts";
import { typeOf } from "../files.ts";
import { DOCKERFILE, INPUT, INSTRUCTION, SUBMISSION_SCHEMA, TASK_TOML, VERIFIER_ENVIRONMENT } from "./agent-visible.ts";
import { SOLVE_PY, SOLVE_SH, TEST_SH, TESTS_DOCKERFILE, TRAPS, VERIFY_PY } from "./hidden.ts";

export interface ScaffoldOptions {
  /** The dataset folder; the split layout writes to its siblings `verifiers/` and `oracle/` too. */
  readonly dataset: string;
  /** Lower-case letters, digits and hyphens. */
  readonly name: string;
  /** Write a self-contained Harbor bundle instead of the split layout. */
  readonly harbor: boolean;
}

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

/**
 * Writes a small complete task that loads, passes the linter and its own oracle: instruction, environment, submission schema, verifier,
 * computing oracle and four traps. Returns the absolute paths written.
 * @throws RunnerError `TASK_NAME` on a bad name, `TASK_EXISTS` when any of its folders is there; nothing is written then.
 */
export async function scaffoldTask(options: ScaffoldOptions): Promise<{ readonly files: readonly string[] }> {
  const { name, harbor } = options;
  if (!NAME.test(name)) {
    throw new RunnerError(
      "usage",
      "TASK_NAME",
      `a task's name is lower-case letters, digits and hyphens, got ${JSON.stringify(name)}`,
      {
        hint: "Choose a name such as matrix-rank-01.",
      },
    );
  }
  const dataset = resolve(options.dataset);
  const root = dirname(dataset);
  const task = join(dataset, name);
  const tests = harbor ? join(task, "tests") : join(root, "verifiers", name);
  const solution = harbor ? join(task, "solution") : join(root, "oracle", name);
  const traps = harbor ? join(task, "traps") : join(solution, "traps");
  for (const folder of harbor ? [task] : [task, tests, solution]) {
    if ((await typeOf(folder)) === "absent") continue;
    throw new RunnerError("input", "TASK_EXISTS", `${folder} is there already; nothing was written`, {
      hint: "Choose another name, or remove the folder.",
    });
  }
  const input = INPUT.replaceAll("NAME", name);
  const files = new Map<string, string>([
    [join(task, "task.toml"), TASK_TOML.replace("VERIFIER_ENVIRONMENT", harbor ? "" : VERIFIER_ENVIRONMENT)],
    [join(task, "instruction.md"), INSTRUCTION],
    [join(task, "environment", "Dockerfile"), DOCKERFILE],
    [join(task, "environment", "input.json"), INPUT],
    [join(task, "environment", "submission_schema.json"), SUBMISSION_SCHEMA],
    ...(harbor ? [[join(tests, "Dockerfile"), TESTS_DOCKERFILE] as const] : []),
    [join(tests, "test.sh"), TEST_SH],
    [join(tests, "verify.py"), VERIFY_PY.replace("INPUT_DIGEST", digestBytes(input).slice("sha256:".length))],
    [join(tests, "input.json"), INPUT],
    [join(solution, "solve.sh"), SOLVE_SH],
    [join(solution, "solve.py"), SOLVE_PY],
  ]);
  for (const trap of TRAPS) {
    files.set(join(traps, trap.name, "trap.json"), `${JSON.stringify({ fails: trap.fails, why: trap.why })}\n`);
    files.set(join(traps, trap.name, "artifacts", "app", "submission.json"), trap.submission);
  }
  for (const [path, text] of files) {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text.replaceAll("NAME", name), { flag: "wx" });
    if (path.endsWith(".sh")) await chmod(path, 0o755);
  }
  return { files: [...files.keys()].sort() };
}
