import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Executed, json, oracle, recordsOf, runner, scratch, writeBundle } from "../support/e2e.ts";
import { execute, rowLines, talk, writeStudy } from "../support/e2e-study.ts";

const TASKS = ["alpha", "beta", "gamma"];
let place: Awaited<ReturnType<typeof scratch>>;
let dataset: string;
let out: string;

beforeAll(async () => {
  place = await scratch();
  dataset = join(place.dir, "tasks");
  out = join(place.dir, "run");
  for (const id of TASKS) await writeBundle(dataset, id);
  expect((await oracle(dataset, join(place.dir, "oracle"))).code).toBe(0);
});
afterAll(() => place.remove());

test("a resumption gives a new attempt to the unscored trial alone, keeps the old one as superseded, and is refused with another image (I4)", async () => {
  const solve = "echo 42 > /app/answer.txt";
  const down = {
    scope: { task: "beta", condition: "any" as const },
    exchanges: [{ match: { turn: 1 }, response: { status: 500, text: "down" } }],
  };
  const conversations = [talk("alpha", solve), down, talk("gamma", solve)];
  const study = await writeStudy(join(place.dir, "study"), { dataset, tasks: TASKS, conversations });
  const first = await execute(study, "control", out);
  expect(first.code).toBe(1);
  const before = await recordsOf(out);
  const outcomes = Object.fromEntries(before.map(({ task, outcome }) => [task, outcome]));
  expect(outcomes).toEqual({ alpha: "scored", beta: "provider_error", gamma: "scored" });

  const resumed = await runner(["resume", out, "--json"]);
  const [run] = json<Executed>(resumed).runs;
  expect(run?.supersedes).toBe(first.result.runs[0]?.report_sha256);
  const attempts = (run?.rows ?? []).map(({ task, attempt }) => `${task} ${attempt}`);
  expect(attempts.sort()).toEqual(["alpha 1", "beta 2", "gamma 1"]);
  // What was scored is the same record, not another one that agrees with it.
  const unchanged = (records: typeof before) => records.filter(({ task }) => task !== "beta");
  expect(unchanged(await recordsOf(out))).toEqual(unchanged(before));
  const verified = await runner(["verify", out, "--report-sha256", run?.report_sha256 ?? "", "--json"]);
  expect(json(verified)).toMatchObject({ valid: true, trials: 4 });

  await writeFile(join(dataset, "beta", "environment", "Dockerfile"), "FROM jacobian-runner/workbench\nENV OTHER=1\n");
  expect((await oracle(dataset, join(place.dir, "oracle-again"))).code).toBe(0);
  const refused = await runner(["resume", out]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toMatch(/beta/);
  expect(refused.stderr).toMatch(/environment|image/i);
  expect(json(await runner(["verify", out, "--report-sha256", run?.report_sha256 ?? "", "--json"]))).toMatchObject({
    valid: true,
    trials: 4,
  });
});

test("an agent that takes the shell away from the verifier in its own filesystem has no score, and its run still verifies", async () => {
  const agent = { name: "command", command: "echo 42 > /app/answer.txt; rm -f /bin/sh /usr/bin/sh" };
  const study = await writeStudy(join(place.dir, "shell-study"), { dataset, tasks: ["alpha"], agent });
  const ran = await execute(study, "control", join(place.dir, "shell"));
  expect([ran.code, rowLines(ran.result)]).toEqual([1, ["alpha control: verifier_error REWARD_MISSING"]]);
  const [run] = ran.result.runs;
  const verified = await runner(["verify", run?.dir ?? "", "--report-sha256", run?.report_sha256 ?? "", "--json"]);
  expect(json(verified)).toMatchObject({ valid: true, reasons: [] });
  expect((await runner(["resume", run?.dir ?? "", "--json"])).stdout).toContain('"nothingMissing":true');
});
