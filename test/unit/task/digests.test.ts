import { chmod, cp, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { datasetDigest, type TaskDigests, taskDigests } from "../../../runner/task/digests.ts";
import { loadDataset } from "../../../runner/task/load-dataset.ts";
import { loadTask } from "../../../runner/task/load-task.ts";
import { bundle, bundles, makeFolder, minimal } from "./support.ts";

const files = {
  ...minimal,
  "environment/submission_schema.json": "{}",
  "solution/solve.sh!": "#!/bin/bash\n",
  "traps/wrong/trap.json": '{"fails":"c","why":"w"}',
  "traps/wrong/artifacts/app/x": "1",
};

/** The names of the digests that a change to the task's folder changes. */
async function changed(change: (dir: string) => Promise<void>): Promise<(keyof TaskDigests)[]> {
  const dir = await makeFolder(files);
  const before = await taskDigests(await loadTask(dir));
  await change(dir);
  const after = await taskDigests(await loadTask(dir));
  return (Object.keys(before) as (keyof TaskDigests)[]).filter((name) => before[name] !== after[name]);
}

const write = (path: string, text: string) => async (dir: string) => {
  await mkdir(join(dir, path, ".."), { recursive: true });
  await writeFile(join(dir, path), text);
};

test.each([
  [
    "an unknown key of task.toml",
    write("task.toml", 'colour = 1\n[environment]\nnetwork_mode = "no-network"\n'),
    ["contract", "task"],
  ],
  ["the instruction", write("instruction.md", "other"), ["contract", "task"]],
  ["a file of the environment", write("environment/data.txt", "x"), ["contract", "environment", "task"]],
  ["the submission schema", write("environment/submission_schema.json", "true"), ["contract", "environment", "task"]],
  ["a file of the verifier", write("tests/data.txt", "x"), ["verifier", "hidden", "task"]],
  ["the oracle", write("solution/solve.sh", "#!/bin/sh\n"), ["oracle", "hidden", "task"]],
  ["a trap's files", write("traps/wrong/artifacts/app/x", "2"), ["traps", "hidden", "task"]],
  ["a trap's declaration", write("traps/wrong/trap.json", '{"fails":"d","why":"w"}'), ["traps", "hidden", "task"]],
  [
    "the execute bit of a file",
    (dir: string) => chmod(join(dir, "tests/test.sh"), 0o644),
    ["verifier", "hidden", "task"],
  ],
  [
    "an empty folder",
    (dir: string) => mkdir(join(dir, "tests/empty")).then(() => undefined),
    ["verifier", "hidden", "task"],
  ],
  [
    "a file that .gitignore names",
    async (dir: string) => {
      await write(".gitignore", "tests/secret.txt\n")(dir);
      await write("tests/secret.txt", "x")(dir);
    },
    ["verifier", "hidden", "task"],
  ],
  [
    "other mode bits, times and litter",
    async (dir: string) => {
      await chmod(join(dir, "instruction.md"), 0o600);
      await write("tests/__pycache__/x.pyc", "x")(dir);
      await write("tests/.DS_Store", "x")(dir);
      await write("README.md", "x")(dir);
    },
    [],
  ],
])("changing %s changes exactly the digests that cover it", async (_what, change, expected) => {
  expect(await changed(change)).toEqual(expected);
});

test("the digests do not depend on where the task lies", async () => {
  const one = await makeFolder(bundle("t", files));
  const two = await makeFolder({});
  await cp(join(one, "t"), join(two, "t"), { recursive: true });
  expect(await taskDigests(await loadTask(join(two, "t")))).toEqual(await taskDigests(await loadTask(join(one, "t"))));
});

test("the dataset's digest binds which tasks there are and what they are", async () => {
  const dir = await makeFolder({ ...bundle("a"), ...bundle("b") });
  const digest = async () => datasetDigest(await loadDataset(dir));
  const before = await digest();
  expect(await digest()).toBe(before);
  await writeFile(join(dir, "b/instruction.md"), "other");
  const edited = await digest();
  await rm(join(dir, "b"), { recursive: true });
  expect(new Set([before, edited, await digest()]).size).toBe(3);
});

test("the digests of a fixture are pinned: a change here changes every stored digest", async () => {
  expect(await taskDigests(await loadTask(join(bundles, "good/multi-step-separate")))).toMatchInlineSnapshot(`
    {
      "contract": "sha256:d5ddd21ee36167752da4d7ca35bf2656614911ccd338ceabc464642df8471e04",
      "environment": "sha256:6f65d0c678f9e328948724dd55663e46492b0d5d6c242ed4eb6c0a999a263601",
      "hidden": "sha256:86aff424a6a0e283f28983c850c6bc5002801f881c958582fb6a9db50dcc10cf",
      "oracle": "sha256:7be5ad883e10de227abac100cc3f9761a744b9f746acd7a9678fba7f0781b752",
      "task": "sha256:96350167721450e16594930dda6678a98abacea1d324c52e70b7c42402bd48b3",
      "traps": "sha256:4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945",
      "verifier": "sha256:0555aa7966ffb10ef260f8f9e75c049b02888626e381c31ca467e125b72f6756",
    }
  `);
});
