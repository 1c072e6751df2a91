import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUNDLES, json, leftOf, oracle, type Refusal, runLines, runner, scratch, writeBundle } from "../support/e2e.ts";

let dir: string;
let remove: () => Promise<void>;
beforeAll(async () => {
  ({ dir, remove } = await scratch());
});
afterAll(() => remove());

test("standard Harbor bundles run unchanged: every oracle reaches 1, and nop and traps get 0", async () => {
  const { code, result } = await oracle(join(BUNDLES, "good"), join(dir, "good"));
  const seen = result.tasks.map(({ task, state, problems, runs }) => ({
    task,
    state,
    problems,
    runs: runs.map(({ role, outcome, rewards, failedCheck, cause }) => ({
      role,
      outcome,
      rewards,
      failedCheck,
      cause,
    })),
  }));
  const run = (role: string, reward: number, extra: Record<string, number> = {}) => ({
    role,
    outcome: "scored",
    rewards: { reward, ...extra },
    failedCheck: null,
    cause: null,
  });
  const plain = [
    "allowlist",
    "artifacts",
    "collect-hook",
    "env-templates",
    "healthcheck",
    "legacy-spellings",
    "multi-step",
    "multi-step-separate",
    "prebuilt-image",
  ];
  const valid = { state: "valid", problems: [] };
  expect(seen).toEqual([
    ...plain.map((task) => ({ task, ...valid, runs: [run("oracle", 1), run("nop", 0)] })),
    {
      task: "separate-dockerfile",
      ...valid,
      runs: [run("oracle", 1, { spelling: 1 }), run("nop", 0, { spelling: 0 })],
    },
    { task: "separate-image", ...valid, runs: [run("oracle", 1), run("nop", 0)] },
    {
      task: "shared-default",
      ...valid,
      runs: [run("oracle", 1), run("nop", 0), run("trap concatenated", 0), run("trap off-by-one", 0)],
    },
    ...["unknown-keys", "users"].map((task) => ({ task, ...valid, runs: [run("oracle", 1), run("nop", 0)] })),
  ]);
  expect(code).toBe(0);
  expect(await leftOf(result.runId)).toEqual([]);

  // The bundle stands on its own: everything comes out again from its bytes and the printed anchor.
  const verified = await runner(["verify", result.out, "--report-sha256", result.report, "--json"]);
  expect(json(verified)).toMatchObject({ valid: true, kind: "oracle", reasons: [], trials: 30 });

  // Another run cannot be written over it.
  const again = await runner(["oracle", "--dataset", join(BUNDLES, "good"), "--out", result.out, "--json"]);
  expect([again.code, json<Refusal>(again).error.code]).toEqual([2, "OUT_NOT_EMPTY"]);
});

test("bundles that need what one Docker host cannot give are refused by name, and nothing is started", async () => {
  const dataset = join(BUNDLES, "refused");
  const { code, result } = await oracle(dataset, join(dir, "refused"), ["--tasks", ...Object.keys(REFUSED)]);
  expect(
    Object.fromEntries(
      result.tasks.map(({ task, problems }) => [
        task,
        problems.map((problem) => problem.replaceAll(`${dataset}/`, "")),
      ]),
    ),
  ).toEqual(REFUSED);
  expect(result.tasks.map(({ state, runs }) => [state, runs])).toEqual(result.tasks.map(() => ["refused", []]));
  expect(code).toBe(1);
});

const NO_COMPOSE = "it needs Docker Compose services, which are not started here";
/** What each bundle is refused for. */
const REFUSED: Readonly<Record<string, readonly string[]>> = {
  compose: [`compose/environment/docker-compose.yaml: ${NO_COMPOSE}`],
  "compose-verifier": [`compose-verifier/tests/docker-compose.yaml: ${NO_COMPOSE}`],
  gpu: ["environment.gpus: it needs 1 GPU (H100)"],
  "no-definition": [
    "environment: nothing defines the image: neither docker_image nor no-definition/environment/Dockerfile",
  ],
  "no-verifier-definition": [
    "verifier.environment: nothing defines the image: neither docker_image nor no-verifier-definition/tests/Dockerfile",
  ],
  "sidecar-artifact": ["artifacts: it collects /var/lib/data from the service database, which is not started here"],
  "sidecar-hook": ["verifier.collect: it runs a collect hook in the service database, which is not started here"],
  tpu: ["environment.tpu: it needs a TPU (v5e, 2x4)"],
  windows: ["environment.os: it needs Windows containers"],
};

test("a dataset with one damaged task.toml is refused whole, with file, line and column, before anything is created", async () => {
  const ran = await runner([
    "oracle",
    "--dataset",
    join(BUNDLES, "broken"),
    "--tasks",
    "healthy",
    "--out",
    join(dir, "broken"),
    "--json",
  ]);
  const { error } = json<Refusal>(ran);
  expect(ran.code).toBe(2);
  expect(error.code).toBe("TASKS_INVALID");
  expect(error.message).toContain(`${join(BUNDLES, "broken", "bad-escape", "task.toml")}:3:`);
  await expect(readdir(join(dir, "broken"))).rejects.toThrow("ENOENT");
});

test("a base image that is not here is replaced by --image-map, and the replacement changes what is proven", async () => {
  const dataset = join(dir, "mapped");
  await writeBundle(dataset, "mapped", {
    dockerfile: "FROM registry.invalid/team/debian:13\nRUN mkdir -p /app\n",
  });
  const map = (target: string) => ["--image-map", `registry.invalid/team/debian:13=${target}`];
  const workbench = await oracle(dataset, join(dir, "mapped-1"), map("jacobian-runner/workbench"));
  const base = await oracle(dataset, join(dir, "mapped-2"), map("jacobian-runner/base"));
  expect([workbench, base].map(({ code, result }) => [code, result.tasks.map(runLines)])).toEqual([
    [0, [["oracle: scored 1", "nop: scored 0"]]],
    [0, [["oracle: scored 1", "nop: scored 0"]]],
  ]);
  const [one, two] = [workbench.result.tasks[0], base.result.tasks[0]];
  expect(one?.digests).toEqual(two?.digests);
  expect(one?.key).not.toBe(two?.key);

  const unmapped = await oracle(dataset, join(dir, "mapped-3"));
  expect([unmapped.code, unmapped.result.tasks[0]?.state]).toEqual([1, "failed"]);
  expect(unmapped.result.tasks[0]?.problems.join()).toMatch(/infra_error: .*registry\.invalid\/team\/debian:13/);
});

test("a scaffolded task passes the linter, its layers too, and the oracle, in both layouts", async () => {
  const dataset = join(dir, "new", "tasks");
  for (const args of [["split-layout"], ["harbor-layout", "--harbor"]]) {
    const made = await runner(["tasks", "new", ...args, "--dataset", dataset, "--json"]);
    expect([made.code, json<{ name: string }>(made).name]).toEqual([0, args[0]]);
  }
  const checked = await runner(["tasks", "check", "--dataset", dataset, "--layers", "--json"]);
  expect([checked.code, json(checked)]).toEqual([
    0,
    {
      ok: true,
      tasks: [
        { id: "harbor-layout", findings: [] },
        { id: "split-layout", findings: [] },
      ],
    },
  ]);
  const { code, result } = await oracle(dataset, join(dir, "new", "out"));
  expect(result.tasks.map(({ task, state, problems }) => ({ task, state, problems }))).toEqual([
    { task: "harbor-layout", state: "valid", problems: [] },
    { task: "split-layout", state: "valid", problems: [] },
  ]);
  expect(code).toBe(0);
});
