import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { driftOf, type Fault } from "../../../runner/study/regression-drift.ts";
import {
  type LockedOutcome,
  lockText,
  type RegressionLock,
  readRegressionLock,
  writeRegressionLock,
} from "../../../runner/study/regression-lock.ts";
import { regressionText } from "../../../runner/study/regression-text.ts";

const a = digestBytes("a");
const b = digestBytes("b");

function scored(reward: number): LockedOutcome {
  const failedCheck = reward === 1 ? null : "answer";
  return { outcome: "scored", reward, rewards: { reward }, failedCheck, cause: null };
}

function lockOf(): RegressionLock {
  const task = () => ({
    files: { "/tests/verify.py": a, "instruction.md": a },
    images: { environment: a },
    outcomes: { oracle: scored(1), nop: scored(0), "trap wrong": scored(0) },
  });
  const image = () => ({ inputDigest: a, configDigest: a, packages: { "deb bash": "5.2", "wheel jacobian": "0.3.1" } });
  return {
    schemaVersion: "1",
    kind: "regression-lock",
    dataset: "../tasks",
    whole: false,
    tasks: { one: task(), two: task() },
    images: { base: image(), jacobian: image() },
    study: {
      path: "study.json",
      digest: a,
      agent: "toolloop 1",
      model: "scripted",
      cassettes: { "1": a },
      server: {
        name: "jacobian",
        image: "jacobian",
        surface: a,
        server: "jacobian 0.3.1",
        instructions: null,
        tools: { "math.find": a, "math.run": a },
        catalog: { digest: a, operations: 700 },
      },
      outcomes: { "one control #1": scored(0), "one treatment #1": scored(1) },
    },
  };
}

/** A lock that differs in what `change` changes. */
function changed(change: (lock: RegressionLock & { tasks: Record<string, RegressionLock["tasks"][string]> }) => void) {
  const found = structuredClone(lockOf());
  change(found);
  return driftOf(lockOf(), found);
}

test("a state that is as it was locked has no difference", () => {
  expect(driftOf(lockOf(), lockOf())).toEqual([]);
  expect(regressionText(lockOf(), [], [])).toBe("the same: 2 tasks, no input and no outcome changed\n");
});

test("a changed file is drift of its task, and names the file; another outcome is told apart from it", () => {
  const drifts = changed(({ tasks }) => {
    const { one } = tasks;
    if (one === undefined) return;
    one.files["/tests/verify.py"] = b;
    one.outcomes["trap wrong"] = scored(1);
  });
  expect(drifts).toEqual([
    { of: "task", name: "one", part: "/tests/verify.py", expected: a, found: b },
    {
      of: "outcome",
      name: "one",
      part: "trap wrong",
      expected: 'reward 0 {"reward":0}, failed check answer',
      found: 'reward 1 {"reward":1}',
    },
  ]);
  expect(regressionText(lockOf(), drifts, [])).toBe(
    `drift of inputs: 1
  tasks changed:
    one, /tests/verify.py: expected ${a}, found ${b}
drift of outcomes: 1
  one, trap wrong: expected reward 0 {"reward":0}, failed check answer, found reward 1 {"reward":1}
    changed before it: task one
`,
  );
});

test("an outcome that changed although no input did says so", () => {
  const drifts = changed(({ tasks }) => {
    if (tasks.two !== undefined)
      tasks.two.outcomes.oracle = {
        outcome: "verifier_error",
        reward: null,
        rewards: null,
        failedCheck: null,
        cause: "REWARD_MISSING",
      };
  });
  expect(regressionText(lockOf(), drifts, ["two is invalid: oracle"])).toBe(
    `drift of inputs: 0
drift of outcomes: 1
  two, oracle: expected reward 1 {"reward":1}, found verifier_error (REWARD_MISSING)
    no input of it changed
problem: two is invalid: oracle
`,
  );
});

test("an upgrade of the server is told from a change of a task: package, image, version, tools, catalog", () => {
  const drifts = changed(({ images, study }) => {
    const { jacobian } = images;
    if (jacobian === undefined || study === null) return;
    jacobian.packages["wheel jacobian"] = "0.4.0";
    jacobian.configDigest = b;
    study.server.surface = b;
    study.server.server = "jacobian 0.4.0";
    study.server.tools = { "math.run": b, "math.plot": a };
    study.server.catalog = { digest: b, operations: 712 };
    study.outcomes["one treatment #1"] = scored(0);
  });
  expect(drifts.map(({ of, name, part, expected, found }) => `${of} ${name} ${part}: ${expected} ${found}`)).toEqual([
    "server jacobian package wheel jacobian: 0.3.1 0.4.0",
    `server jacobian image configuration: ${a} ${b}`,
    `server jacobian catalog: ${a} ${b}`,
    "server jacobian catalog's operations: 700 712",
    `server jacobian surface: ${a} ${b}`,
    `server jacobian tool math.find: ${a} null`,
    `server jacobian tool math.plot: null ${a}`,
    `server jacobian tool math.run: ${a} ${b}`,
    "server jacobian version: jacobian 0.3.1 jacobian 0.4.0",
    'outcome study.json one treatment #1: reward 1 {"reward":1} reward 0 {"reward":0}, failed check answer',
  ]);
  expect(regressionText(lockOf(), drifts, [])).toContain("    changed before it: server jacobian\n");
});

test("packages of other images, studies, cassettes, and tasks that come or go are named", () => {
  const drifts = changed((found) => {
    const { base } = found.images;
    if (base === undefined || found.study === null) return;
    delete base.packages["deb bash"];
    delete found.tasks.two;
    found.tasks.three = { files: {}, images: {}, outcomes: {} };
    found.study.digest = b;
    found.study.cassettes["1"] = b;
  });
  expect(drifts.map(({ of, name, part, expected, found }) => `${of} ${name} ${part}: ${expected} ${found}`)).toEqual([
    "task three the task: null there",
    "task two the task: there null",
    "image base package deb bash: 5.2 null",
    `study study.json cassette of trial 1: ${a} ${b}`,
    `study study.json file: ${a} ${b}`,
    'outcome two nop: reward 0 {"reward":0}, failed check answer null',
    'outcome two oracle: reward 1 {"reward":1} null',
    'outcome two trap wrong: reward 0 {"reward":0}, failed check answer null',
  ]);
});

test("an input that cannot be used is one drift of that input, and what could not be run with it is no drift of outcomes", () => {
  const { one: _, ...tasks } = lockOf().tasks;
  const study = lockOf().study;
  const found: RegressionLock = { ...lockOf(), tasks, study: study === null ? null : { ...study, outcomes: {} } };
  const faults: Fault[] = [
    { of: "task", name: "one", why: "one/task.toml:3:1: bad escape" },
    { of: "server", name: "jacobian", why: "it ended with exit code 2" },
  ];
  const drifts = driftOf(lockOf(), found, faults);
  expect(drifts).toEqual([
    {
      of: "task",
      name: "one",
      part: "the task",
      expected: "there",
      found: "cannot be used: one/task.toml:3:1: bad escape",
    },
    {
      of: "server",
      name: "jacobian",
      part: "the server",
      expected: "jacobian 0.3.1",
      found: "cannot be used: it ended with exit code 2",
    },
  ]);
  expect(regressionText(lockOf(), drifts, ["study.json was not run: its server does not answer"])).toBe(
    `drift of inputs: 2
  tasks changed:
    one, the task: expected there, found cannot be used: one/task.toml:3:1: bad escape
  the server changed: its package, its image or what it advertises:
    jacobian, the server: expected jacobian 0.3.1, found cannot be used: it ended with exit code 2
drift of outcomes: 0
problem: study.json was not run: its server does not answer
`,
  );
});

test("a study that is gone is one drift of the study", () => {
  const faults: Fault[] = [{ of: "study", name: "study.json", why: "it does not exist" }];
  expect(driftOf(lockOf(), { ...lockOf(), study: null }, faults)).toEqual([
    { of: "study", name: "study.json", part: "the study", expected: a, found: "cannot be used: it does not exist" },
  ]);
});

test("a lock's file has one form; a missing, edited or unknown one is refused", async () => {
  const dir = await mkdtemp(join(tmpdir(), "regression-lock-"));
  const path = join(dir, "new", "folder", "lock.json");
  try {
    await writeRegressionLock(path, lockOf());
    expect(await readFile(path, "utf8")).toBe(lockText(lockOf()));
    expect(await readRegressionLock(path)).toEqual(lockOf());
    await writeFile(path, JSON.stringify(lockOf()));
    await expect(readRegressionLock(path)).rejects.toMatchObject({ code: "LOCK_NOT_CANONICAL" });
    await writeFile(path, lockText({ ...lockOf(), note: "x" } as RegressionLock));
    await expect(readRegressionLock(path)).rejects.toMatchObject({ code: "INPUT_INVALID" });
    await expect(readRegressionLock(join(dir, "none.json"))).rejects.toMatchObject({ code: "LOCK_MISSING" });
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
