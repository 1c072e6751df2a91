import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { loadDataset } from "../../../runner/task/load-dataset.ts";
import { loadTask } from "../../../runner/task/load-task.ts";
import { bundle, bundles, makeFolder, minimal, rejection } from "./support.ts";

/** The message of the load's error, with the folder's own path taken out. */
async function loadError(dir: string): Promise<string> {
  const thrown = await rejection(loadDataset(dir));
  if (!(thrown instanceof RunnerError)) throw thrown;
  return `${thrown.kind} ${thrown.code}: ${thrown.message}`.replaceAll(`${dir}/`, "");
}

test("one broken task in a dataset fails the whole load and names file, line and column", async () => {
  const dir = join(bundles, "broken");
  expect(await loadError(dir)).toBe(
    [
      "input TASKS_INVALID: 15 problems in the tasks:",
      "bad-escape/task.toml:3:25: TOML: unrecognised escape sequence",
      "big-integer/task.toml:3:1: metadata.big: the integer 18446744073709551616 does not fit in the 64 bits of a TOML integer",
      'wrong-types/task.toml:1:1: artifacts: the artifact source "/app/../etc/passwd" goes up with ".."',
      'wrong-types/task.toml:1:1: artifacts.1: the destination "/abs" must be relative',
      'wrong-types/task.toml:4:1: task.name: expected "org/name", got "no-organisation"',
      'wrong-types/task.toml:7:1: verifier.timeout_sec: expected a number, got "soon"',
      'wrong-types/task.toml:8:1: verifier.environment_mode: "shared" contradicts the environment table beside it; drop one of the two',
      "wrong-types/task.toml:14:1: environment.cpus: expected an integer, got 0.5",
      'wrong-types/task.toml:15:1: environment.memory: "4G" contradicts memory_mb = 512; keep memory_mb alone',
      'wrong-types/task.toml:17:1: environment.allowed_hosts: needs network_mode = "allowlist", which is not set',
      "wrong-types/task.toml:18:1: environment.env: PORT: expected a string, got 8080; put it in quotes",
      "wrong-types/task.toml:20:1: environment.healthcheck: a healthcheck needs a command",
      "wrong-types/task.toml:21:1: environment.healthcheck.retries: expected 1 or more, got 0",
      'wrong-types/task.toml:24:1: steps.0.name: a step\'s name is the name of its folder below steps/, got "../escape"',
      'wrong-types/task.toml:30:1: steps.2.name: the step "twice" is there twice',
    ].join("\n"),
  );
});

test("every bundle that should run is loaded, sorted by id", async () => {
  const { tasks } = await loadDataset(join(bundles, "good"));
  expect(
    tasks.map((task) => `${task.id} ${task.steps.map((step) => `${step.name}:${step.verifier.mode}`).join(",")}`),
  ).toEqual([
    "allowlist main:shared",
    "artifacts main:separate",
    "collect-hook main:shared",
    "env-templates main:shared",
    "healthcheck main:shared",
    "legacy-spellings main:shared",
    "multi-step collect:shared,combine:shared",
    "multi-step-separate first:shared,second:separate",
    "prebuilt-image main:shared",
    "separate-dockerfile main:separate",
    "separate-image main:separate",
    "shared-default main:shared",
    "unknown-keys main:shared",
    "users main:shared",
  ]);
});

test("a folder that is itself one bundle is a dataset of one task", async () => {
  const { tasks } = await loadDataset(join(bundles, "good/shared-default"));
  expect(
    tasks.map(({ id, name, multiStep, traps }) => ({ id, name, multiStep, traps: traps.map((trap) => trap.name) })),
  ).toEqual([
    { id: "shared-default", name: "fixtures/shared-default", multiStep: false, traps: ["concatenated", "off-by-one"] },
  ]);
});

test("a folder that looks like a task but has no task.toml is reported, other folders are not", async () => {
  const dir = await makeFolder({
    ...bundle("good"),
    "lost/instruction.md": "x",
    "formats/a.json": "{}",
    ".git/HEAD": "x",
  });
  expect(await loadError(dir)).toBe(
    "input TASKS_INVALID: 1 problem in the tasks:\nlost/task.toml: there is no such file; a task needs its task.toml",
  );
});

test("a folder without tasks and a path that is no folder are errors", async () => {
  const dir = await makeFolder({ "notes.txt": "x" });
  expect(await loadError(dir)).toBe(
    `input NO_TASKS: ${dir} holds no task: neither it nor a folder in it has a task.toml`,
  );
  expect(await loadError(join(dir, "absent"))).toBe(`input NO_TASKS: ${dir}/absent is not a folder`);
});

test("a task without its parts is refused with everything that is missing", async () => {
  const dir = await makeFolder({
    "empty/task.toml": "",
    "steps/task.toml": '[[steps]]\nname = "one"\n',
    "steps/environment/Dockerfile": "FROM x\n",
    "latin/task.toml": Buffer.from('[metadata]\nname = "caf\xe9"\n', "latin1"),
  });
  expect(await loadError(dir)).toBe(
    [
      "input TASKS_INVALID: 6 problems in the tasks:",
      "empty/environment: there is no such folder; a task needs its environment/",
      "empty/instruction.md: there is no such file; the agent needs its instruction",
      "empty/tests/test.sh: there is no such file; a shared verifier needs its test script",
      "latin/task.toml: the bytes are not UTF-8",
      "steps/steps/one/instruction.md: there is no such file; the agent needs its instruction",
      `steps/steps/one/tests/test.sh: there is no such file, nor one in ${dir.replace(/\/$/, "")}/steps/tests; a shared verifier needs its test script`,
    ]
      .join("\n")
      .replaceAll(`${dir}/`, ""),
  );
});

test("traps must say what they break and be one of the two kinds", async () => {
  const dir = await makeFolder({
    ...bundle("t"),
    "t/traps/both/trap.json": '{"fails":"c","why":"w"}',
    "t/traps/both/solve.sh!": "#!/bin/bash\n",
    "t/traps/both/artifacts/app/x": "1",
    "t/traps/neither/trap.json": '{"fails":"c","why":"w"}',
    "t/traps/silent/solve.sh!": "#!/bin/bash\n",
    "t/traps/typo/trap.json": '{"fail":"c","why":""}',
    "t/traps/typo/solve.sh!": "#!/bin/bash\n",
  });
  expect(await loadError(dir)).toBe(
    [
      "input TASKS_INVALID: 4 problems in the tasks:",
      "t/traps/both: a trap has either solve.sh or an artifacts/ folder; this one has both",
      "t/traps/neither: a trap has either solve.sh or an artifacts/ folder; this one has neither",
      't/traps/silent/trap.json: there is no such file; write {"fails": "<check id>", "why": "..."}',
      't/traps/typo/trap.json: trap.json: fails: Invalid input: expected string, received undefined; why: expected one sentence that says why it is wrong, got ""; the root: Unrecognized key: "fail"',
    ].join("\n"),
  );
});

test("the split layout joins verifier, oracle, traps and shared code to the agent-visible part", async () => {
  const root = await makeFolder({
    "tasks/t/task.toml":
      '[metadata.runner]\nverifier_shared = ["kernel"]\noracle_shared = ["kernel"]\nformats = ["f.json"]\n[verifier.environment]\ndocker_image = "jacobian-runner/verifier"\n',
    "tasks/t/instruction.md": "x\n",
    "tasks/t/environment/Dockerfile": "FROM jacobian-runner/workbench\n",
    "tasks/t/environment/submission_schema.json": "{}",
    "tasks/formats/f.json": "{}",
    "verifiers/t/test.sh!": "#!/bin/bash\n",
    "verifiers/shared/kernel/k.py": "",
    "oracle/t/solve.sh!": "#!/bin/bash\n",
    "oracle/t/traps/a/trap.json": '{"fails":"c","why":"w"}',
    "oracle/t/traps/a/solve.sh!": "#!/bin/bash\n",
    "oracle/shared/kernel/k.py": "",
  });
  const { tasks } = await loadDataset(join(root, "tasks"));
  expect(
    tasks.map(({ layout, steps, traps, joins, submission }) => ({
      layout,
      tests: steps[0]?.testsDirs,
      copied: steps[0]?.verifier.tests,
      solution: steps[0]?.solutionDirs,
      traps: traps.map((trap) => trap.dir),
      joins: joins.map(({ into, at, from }) => `/${into}/${at} < ${from}`),
      submission,
    })),
  ).toEqual([
    {
      layout: "split",
      tests: [join(root, "verifiers/t")],
      copied: "copied",
      solution: [join(root, "oracle/t")],
      traps: [join(root, "oracle/t/traps/a")],
      joins: [
        `/tests/shared/kernel < ${root}/verifiers/shared/kernel`,
        `/solution/shared/kernel < ${root}/oracle/shared/kernel`,
        `/tests/formats/f.json < ${root}/tasks/formats/f.json`,
        `/solution/formats/f.json < ${root}/tasks/formats/f.json`,
      ],
      submission: {
        path: "/app/submission.json",
        schemaFile: join(root, "tasks/t/environment/submission_schema.json"),
      },
    },
  ]);
});

test("shared code that is not there, and a split task without its verifier, are refused", async () => {
  const root = await makeFolder({
    "tasks/t/task.toml":
      '[metadata.runner]\nverifier_shared = ["kernel"]\nformats = ["f"]\n[verifier]\nenvironment_mode = "separate"\n',
    "tasks/t/instruction.md": "x\n",
    "tasks/t/environment/Dockerfile": "FROM x\n",
    "verifiers/other/test.sh": "",
  });
  expect(await loadError(join(root, "tasks"))).toBe(
    [
      "input TASKS_INVALID: 3 problems in the tasks:",
      `t/task.toml:2:1: metadata.runner.verifier_shared: ${root}/verifiers/shared/kernel is not there`,
      "t/task.toml:3:1: metadata.runner.formats: formats/f is not there",
      `${root}/verifiers/t: there is no such folder; a task of the split layout needs its verifier`,
    ].join("\n"),
  );
});

test("what the file system refuses is a problem of its task", async () => {
  const dir = await makeFolder(
    bundle("t", { "task.toml": `[[steps]]\nname = "${"long".repeat(100)}"\n`, "steps/x": "" }),
  );
  expect((await loadError(dir)).split(", lstat")[0]).toBe(
    "input TASKS_INVALID: 1 problem in the tasks:\nt: cannot be read: ENAMETOOLONG: name too long",
  );
});

test("a submission without a schema and a public input that is not there are refused", async () => {
  const dir = await makeFolder(
    bundle("t", { "task.toml": '[metadata.runner]\nsubmission = "/app/x.json"\npublic_inputs = ["input.json"]\n' }),
  );
  expect(await loadError(dir)).toBe(
    [
      "input TASKS_INVALID: 2 problems in the tasks:",
      "t/task.toml:2:1: metadata.runner.submission: there is no environment/submission_schema.json to check it against",
      "t/task.toml:3:1: metadata.runner.public_inputs: t/environment/input.json is not there",
    ].join("\n"),
  );
});

test("a dataset may link to task folders kept elsewhere", async () => {
  const elsewhere = await makeFolder(bundle("real"));
  const dir = await makeFolder({});
  await mkdir(join(dir, "set"));
  await symlink(join(elsewhere, "real"), join(dir, "set/linked"));
  expect((await loadDataset(join(dir, "set"))).tasks.map((task) => task.id)).toEqual(["linked"]);
});

test("the submission's path comes from the metadata, else the first artifact ending in submission.json, else the usual place", async () => {
  const schema = { "environment/submission_schema.json": "{}" };
  const toml = async (text: string) =>
    (await loadTask(await makeFolder({ ...minimal, ...schema, "task.toml": text }))).submission?.path;
  expect([
    await toml('artifacts = ["/out/submission.json"]\n[metadata.runner]\nsubmission = "/elsewhere.json"\n'),
    await toml('artifacts = ["/x.txt", "/out/submission.json"]\n'),
    await toml(""),
  ]).toEqual(["/elsewhere.json", "/out/submission.json", "/app/submission.json"]);
});
