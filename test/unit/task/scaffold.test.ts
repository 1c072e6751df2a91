import { spawnSync } from "node:child_process";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { lintDataset } from "../../../runner/task/lint/lint-dataset.ts";
import { loadTask } from "../../../runner/task/load-task.ts";
import type { Task } from "../../../runner/task/model.ts";
import { readReward } from "../../../runner/task/reward.ts";
import { scaffoldTask } from "../../../runner/task/scaffold/scaffold.ts";
import { loadSubmissionCheck } from "../../../runner/task/submission.ts";
import { readVerdict } from "../../../runner/task/verdict.ts";
import { makeFolder, rejection } from "./support.ts";

async function scaffold(harbor: boolean): Promise<{ dataset: string; task: Task; files: readonly string[] }> {
  const root = await makeFolder(harbor ? {} : { "verifiers/README.md": "", "tasks/README.md": "" });
  const dataset = join(root, "tasks");
  const { files } = await scaffoldTask({ dataset, name: "new-task-01", harbor });
  return {
    dataset,
    task: await loadTask(join(dataset, "new-task-01")),
    files: files.map((file) => file.replace(`${root}/`, "")),
  };
}

/** Runs a Python program of the task with its container paths moved into a folder. */
async function runMoved(source: string, folder: string): Promise<number | null> {
  const text = await readFile(source, "utf8");
  const moved = text.replaceAll('"/app/', `"${folder}/`).replaceAll('"/logs/verifier"', `"${folder}/logs"`);
  const program = moved.replace("os.path.dirname(os.path.abspath(__file__))", JSON.stringify(join(source, "..")));
  return spawnSync("python3", ["-I", "-B", "-c", program]).status;
}

async function grade(task: Task, submission: string | null) {
  const folder = await makeFolder({ "input.json": await readFile(join(task.dir, "environment/input.json")) });
  if (submission !== null) await writeFile(join(folder, "submission.json"), submission);
  expect(await runMoved(join(task.steps[0]?.testsDirs[0] ?? "", "verify.py"), folder)).toBe(0);
  const reward = readReward({ json: await readFile(join(folder, "logs/reward.json")), txt: null });
  const verdict = readVerdict(await readFile(join(folder, "logs/verdict.json")));
  return {
    rewards: reward.state === "valid" ? reward.rewards : { fault: reward.detail },
    failed: verdict.state === "valid" ? verdict.verdict.failed : verdict,
  };
}

test("a scaffolded task of the split layout has every part, and the linter finds nothing", async () => {
  const { dataset, task, files } = await scaffold(false);
  expect(files).toEqual([
    "oracle/new-task-01/solve.py",
    "oracle/new-task-01/solve.sh",
    ...["absolute-values", "boolean-position", "first-position-only", "other-instance"].flatMap((trap) => [
      `oracle/new-task-01/traps/${trap}/artifacts/app/submission.json`,
      `oracle/new-task-01/traps/${trap}/trap.json`,
    ]),
    "tasks/new-task-01/environment/Dockerfile",
    "tasks/new-task-01/environment/input.json",
    "tasks/new-task-01/environment/submission_schema.json",
    "tasks/new-task-01/instruction.md",
    "tasks/new-task-01/task.toml",
    "verifiers/new-task-01/input.json",
    "verifiers/new-task-01/test.sh",
    "verifiers/new-task-01/verify.py",
  ]);
  expect({ layout: task.layout, tests: task.steps[0]?.verifier.tests, traps: task.traps.length }).toEqual({
    layout: "split",
    tests: "copied",
    traps: 4,
  });
  expect(await lintDataset(dataset)).toEqual([{ id: "new-task-01", findings: [] }]);
});

test("a scaffolded Harbor bundle holds everything inside, and the linter finds nothing", async () => {
  const { dataset, task } = await scaffold(true);
  expect((await readdir(join(dataset, "new-task-01"))).sort()).toEqual([
    "environment",
    "instruction.md",
    "solution",
    "task.toml",
    "tests",
    "traps",
  ]);
  expect({
    layout: task.layout,
    tests: task.steps[0]?.verifier.tests,
    image: task.steps[0]?.verifier.environment?.image.kind,
  }).toEqual({
    layout: "bundle",
    tests: "baked",
    image: "dockerfile",
  });
  expect(await lintDataset(dataset)).toEqual([{ id: "new-task-01", findings: [] }]);
});

test("its oracle scores 1 in every dimension, no work scores 0, and every trap fails the check it names", async () => {
  const { task } = await scaffold(false);
  const folder = await makeFolder({ "input.json": await readFile(join(task.dir, "environment/input.json")) });
  expect(await runMoved(join(task.steps[0]?.solutionDirs[0] ?? "", "solve.py"), folder)).toBe(0);
  const solved = await readFile(join(folder, "submission.json"), "utf8");
  expect(await grade(task, solved)).toEqual({
    rewards: { reward: 1, binding: 1, correctness: 1, completeness: 1, scope: 1 },
    failed: null,
  });
  expect((await loadSubmissionCheck(task.submission?.schemaFile ?? ""))(Buffer.from(solved))).toEqual({
    state: "valid",
  });
  expect(await grade(task, null)).toEqual({
    rewards: { reward: 0, binding: 0, correctness: 0, completeness: 0, scope: 0 },
    failed: "submission.readable",
  });
  for (const trap of task.traps) {
    const result = await grade(task, await readFile(join(trap.dir, "artifacts/app/submission.json"), "utf8"));
    expect(result).toEqual({ failed: trap.fails, rewards: expect.objectContaining({ reward: 0 }) });
  }
});

test("a name that is taken or not a folder name is refused, and nothing is written", async () => {
  const { dataset } = await scaffold(false);
  const code = async (name: string) => {
    const thrown = await rejection(scaffoldTask({ dataset, name, harbor: false }));
    return thrown instanceof RunnerError ? thrown.code : thrown;
  };
  expect([await code("new-task-01"), await code("../x"), await code("Upper"), await code("")]).toEqual([
    "TASK_EXISTS",
    "TASK_NAME",
    "TASK_NAME",
    "TASK_NAME",
  ]);
});
