import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { type FileList, fileSets } from "../../../runner/task/file-sets.ts";
import { loadTask } from "../../../runner/task/load-task.ts";
import { bundles, makeFolder, minimal, rejection } from "./support.ts";

function show(files: FileList, root: string): string[] {
  return files.map(({ target, source, type, mode, executable }) => {
    const kind = type === "directory" ? "d" : executable ? "x" : "-";
    return `${kind} ${mode.toString(8)} ${target}${source === null ? "" : ` < ${source.replace(`${root}/`, "")}`}`;
  });
}

test("a bundle's files go to the build context, /tests, /solution and the traps, and nothing else does", async () => {
  const dir = join(bundles, "good/shared-default");
  const sets = await fileSets(await loadTask(dir));
  expect({
    environment: show(sets.environment, dir),
    steps: sets.steps.map(({ step, tests, solution, workdir }) => ({
      step,
      tests: show(tests, dir),
      solution: show(solution, dir),
      workdir: show(workdir, dir),
    })),
    traps: sets.traps.map(({ trap, files }) => ({ trap: trap.name, files: show(files, dir) })),
  }).toEqual({
    environment: ["- 644 Dockerfile < environment/Dockerfile"],
    steps: [
      {
        step: "main",
        tests: ["d 755 /tests < tests", "x 755 /tests/test.sh < tests/test.sh"],
        solution: ["d 755 /solution < solution", "x 755 /solution/solve.sh < solution/solve.sh"],
        workdir: [],
      },
    ],
    traps: [
      {
        trap: "concatenated",
        files: ["d 755 /solution < traps/concatenated", "x 755 /solution/solve.sh < traps/concatenated/solve.sh"],
      },
      {
        trap: "off-by-one",
        files: [
          "d 755 /app < traps/off-by-one/artifacts/app",
          "- 644 /app/answer.txt < traps/off-by-one/artifacts/app/answer.txt",
        ],
      },
    ],
  });
});

test("a step's tests lie over the task's, its solution replaces it, and its working files come along", async () => {
  const dir = join(bundles, "good/multi-step");
  const { steps } = await fileSets(await loadTask(dir));
  expect(
    steps.map(({ step, tests, solution, workdir }) => [
      step,
      ...[tests, solution, workdir].map((files) => show(files, dir)),
    ]),
  ).toEqual([
    [
      "collect",
      ["d 755 /tests < tests", "- 755 /tests/lib.sh < tests/lib.sh", "x 755 /tests/test.sh < tests/test.sh"],
      ["d 755 /solution < steps/collect/solution", "x 755 /solution/solve.sh < steps/collect/solution/solve.sh"],
      [],
    ],
    [
      "combine",
      [
        "d 755 /tests < steps/combine/tests",
        "- 755 /tests/lib.sh < tests/lib.sh",
        "x 755 /tests/test.sh < steps/combine/tests/test.sh",
      ],
      ["d 755 /solution < steps/combine/solution", "x 755 /solution/solve.sh < steps/combine/solution/solve.sh"],
      ["- 644 seed.txt < steps/combine/workdir/seed.txt", "x 755 setup.sh < steps/combine/workdir/setup.sh"],
    ],
  ]);
});

const split = {
  "tasks/t/task.toml":
    '[metadata.runner]\nverifier_shared = ["kernel"]\noracle_shared = ["kernel"]\nformats = ["f.json"]\n[verifier]\nenvironment_mode = "separate"\n',
  "tasks/t/instruction.md": "x\n",
  "tasks/t/environment/Dockerfile": "FROM x\n",
  "tasks/formats/f.json": "{}",
  "verifiers/t/test.sh!": "#!/bin/bash\n",
  "verifiers/t/__pycache__/verify.cpython-313.pyc": "x",
  "verifiers/t/.DS_Store": "x",
  "verifiers/t/stale.pyc": "x",
  "verifiers/shared/kernel/k.py": "",
  "oracle/t/solve.sh!": "#!/bin/bash\n",
  "oracle/t/traps/wrong/trap.json": '{"fails":"c","why":"w"}',
  "oracle/t/traps/wrong/solve.sh": "#!/bin/bash\n",
  "oracle/shared/kernel/k.py": "",
};

test("shared code and formats are joined in, traps are no part of the oracle, and litter is left out", async () => {
  const root = await makeFolder(split);
  const { steps, traps } = await fileSets(await loadTask(join(root, "tasks/t")));
  expect(show(steps[0]?.tests ?? [], root)).toEqual([
    "d 755 /tests < verifiers/t",
    "d 755 /tests/formats",
    "- 644 /tests/formats/f.json < tasks/formats/f.json",
    "d 755 /tests/shared",
    "d 755 /tests/shared/kernel < verifiers/shared/kernel",
    "- 644 /tests/shared/kernel/k.py < verifiers/shared/kernel/k.py",
    "x 755 /tests/test.sh < verifiers/t/test.sh",
  ]);
  const oracle = [
    "d 755 /solution/formats",
    "- 644 /solution/formats/f.json < tasks/formats/f.json",
    "d 755 /solution/shared",
    "d 755 /solution/shared/kernel < oracle/shared/kernel",
    "- 644 /solution/shared/kernel/k.py < oracle/shared/kernel/k.py",
  ];
  expect(show(steps[0]?.solution ?? [], root)).toEqual([
    "d 755 /solution < oracle/t",
    ...oracle,
    "x 755 /solution/solve.sh < oracle/t/solve.sh",
  ]);
  expect(traps.map(({ files }) => show(files, root))).toEqual([
    ["d 755 /solution < oracle/t/traps/wrong", ...oracle, "- 755 /solution/solve.sh < oracle/t/traps/wrong/solve.sh"],
  ]);
});

test("a task's own file and shared code must not claim one path", async () => {
  const root = await makeFolder({ ...split, "verifiers/t/shared/kernel/k.py": "mine" });
  const thrown = await rejection(fileSets(await loadTask(join(root, "tasks/t"))));
  expect(thrown instanceof RunnerError && `${thrown.code}: ${thrown.message}`).toBe(
    `JOIN_CLASH: t: ${root}/verifiers/shared/kernel/k.py and the task's own files both claim /tests/shared/kernel/k.py`,
  );
});

test("a file where another layer has a folder is refused", async () => {
  const dir = await makeFolder({
    ...minimal,
    "task.toml": '[[steps]]\nname = "s"\n',
    "steps/s/instruction.md": "x",
    "tests/data/a.txt": "a",
    "steps/s/tests/data": "b",
  });
  const thrown = await rejection(fileSets(await loadTask(dir)));
  expect(thrown instanceof RunnerError && `${thrown.code}: ${thrown.message}`).toBe(
    `JOIN_CLASH: ${dir}/steps/s/tests/data is a file where ${dir}/tests/data/a.txt needs a folder`,
  );
});

test("a link anywhere in what is copied is refused", async () => {
  const dir = await makeFolder(minimal);
  await mkdir(join(dir, "environment/deep"));
  await symlink("/etc/passwd", join(dir, "environment/deep/link"));
  const thrown = await rejection(fileSets(await loadTask(dir)));
  expect(thrown instanceof RunnerError && `${thrown.code}: ${thrown.message}`).toBe(
    `TREE_LINK: ${dir}/environment/deep/link is a symbolic link`,
  );
});
