import { mkdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Drift } from "../../runner/study/regression-drift.ts";
import type { RegressionLock } from "../../runner/study/regression-lock.ts";
import { GRADE_42, grade, json, ROOT, RUNNER, runner, scratch, sh, writeBundle } from "../support/e2e.ts";
import { standIn, talk, writeStudy } from "../support/e2e-study.ts";

interface Regressed {
  readonly same: boolean;
  readonly counts: Readonly<Record<Drift["of"], number>>;
  readonly drifts: readonly Drift[];
  readonly problems: readonly string[];
}

let place: Awaited<ReturnType<typeof scratch>>;
let dataset: string;
let study: string;
let lock: string;
let runs = 0;

const options = () => ({
  dataset,
  tasks: ["alpha", "beta"],
  conversations: [talk("alpha", "echo 42 > /app/answer.txt"), talk("beta", "echo 41 > /app/answer.txt")],
});

beforeAll(async () => {
  place = await scratch();
  dataset = join(place.dir, "tasks");
  lock = join(place.dir, "locks", "small.json");
  await mkdir(join(place.dir, "locks"));
  for (const id of ["alpha", "beta"])
    await writeBundle(dataset, id, { traps: { wrong: sh("echo 41 > /app/answer.txt") } });
  study = await writeStudy(join(place.dir, "study"), options());
  const ran = await runner(["freeze", "--study", study, "--out", lock, "--evidence", join(place.dir, "freeze")]);
  expect(ran.code, ran.stdout + ran.stderr).toBe(0);
  expect(ran.stdout).toBe(`locked 2 tasks with 6 runs and 4 replayed trials in ${lock}\n`);
});
afterAll(() => place.remove());

async function regress(): Promise<{ readonly code: number | undefined; readonly result: Regressed }> {
  runs += 1;
  const ran = await runner(["regress", lock, "--evidence", join(place.dir, `regress-${runs}`), "--json"]);
  return { code: ran.code, result: json<Regressed>(ran) };
}

/** Differences as lines, digests left out. */
function lines({ drifts }: Regressed): string[] {
  const short = (value: string | null) => value?.replace(/sha256:[0-9a-f]+/, "digest") ?? "nothing";
  return drifts.map(
    ({ of, name, part, expected, found }) => `${of} ${name} ${part}: ${short(expected)}, ${short(found)}`,
  );
}

test("a lock holds the expected outcomes, and the steps of the CI recipe find the same again", async () => {
  const locked = JSON.parse(await readFile(lock, "utf8")) as RegressionLock;
  const rewards = Object.entries(locked.tasks.alpha?.outcomes ?? {}).map(([who, { reward }]) => [who, reward]);
  expect(Object.fromEntries(rewards)).toEqual({ oracle: 1, nop: 0, "trap wrong": 0 });
  const played = Object.entries(locked.study?.outcomes ?? {}).map(([who, { reward }]) => `${who}: ${reward}`);
  expect(played.sort()).toEqual([
    "alpha control #1: 1",
    "alpha treatment #1: 1",
    "beta control #1: 0",
    "beta treatment #1: 0",
  ]);
  expect(Object.keys(locked.images).sort()).toEqual(["base", "verifier", "workbench"]);

  const page = await readFile(join(ROOT, "docs", "regression.md"), "utf8");
  const steps = /```sh ci\n([\s\S]*?)```/.exec(page)?.[1] ?? "";
  // The workflow of the page has the same steps.
  for (const step of steps.trimEnd().split("\n")) expect(page).toContain(`- run: ${step}\n`);
  await mkdir(join(place.dir, "bin"));
  await symlink(RUNNER, join(place.dir, "bin", "runner"));
  const result = join(place.dir, "result.json");
  const env = {
    PATH: `${join(place.dir, "bin")}:${process.env.PATH}`,
    DATASET: dataset,
    LOCK: lock,
    EVIDENCE: join(place.dir, "ci"),
    RESULT: result,
  };
  const ran = await execa("sh", ["-e", "-c", steps], { env, reject: false });
  expect(ran.exitCode, ran.stdout + ran.stderr).toBe(0);
  expect(JSON.parse(await readFile(result, "utf8"))).toMatchObject({ same: true, drifts: [], problems: [] });
});

test("a changed task, a changed verdict and a changed server are seen as three different drifts", async () => {
  const instruction = join(dataset, "beta", "instruction.md");
  const before = await readFile(instruction, "utf8");
  await writeFile(instruction, `${before}Take your time.\n`);
  const changed = await regress();
  expect(changed.code).toBe(1);
  expect(lines(changed.result)).toEqual(["task beta instruction.md: digest, digest"]);
  expect(changed.result.counts).toEqual({ task: 1, image: 0, server: 0, study: 0, outcome: 0 });
  await writeFile(instruction, before);

  const verifier = join(dataset, "alpha", "tests", "test.sh");
  await writeFile(verifier, grade("[ -s /app/answer.txt ]"));
  const verdict = await regress();
  expect(verdict.code).toBe(1);
  expect(lines(verdict.result)).toContain("task alpha /tests/test.sh: digest+x, digest+x");
  expect(lines(verdict.result)).toContain('outcome alpha trap wrong: reward 0 {"reward":0}, reward 1 {"reward":1}');
  expect(verdict.result.counts).toMatchObject({ task: 1, image: 0, server: 0, study: 0 });
  expect(verdict.result.problems[0]).toMatch(/^alpha is invalid: trap wrong: reward 1, expected 0/);
  await writeFile(verifier, GRADE_42);

  const twist = `if (message.method === "tools/list") { answer({ tools: [{ name: "calc.add", description: "Adds, newly.", inputSchema: { type: "object" } }] }); return true; }`;
  await writeStudy(join(place.dir, "study"), { ...options(), command: standIn(twist) });
  const server = await regress();
  expect(server.code).toBe(1);
  expect(lines(server.result).filter((line) => line.startsWith("server"))).toEqual([
    "server standin surface: digest, digest",
    "server standin tool calc.add: digest, digest",
  ]);
  expect(server.result.counts).toMatchObject({ task: 0, image: 0, study: 1 });
  expect(server.result.problems).toEqual([expect.stringMatching(/was not run: the MCP server standin advertises/)]);
  await writeStudy(join(place.dir, "study"), options());
});

test("an input that cannot be used any more is drift of inputs, and no regress that could not run", async () => {
  const toml = join(dataset, "beta", "task.toml");
  const text = await readFile(toml, "utf8");
  await writeFile(toml, `${text}\n[broken\n`);
  const malformed = await regress();
  expect(malformed.code).toBe(1);
  expect(malformed.result.counts).toMatchObject({ task: 1, server: 0, study: 0, outcome: 0 });
  expect(malformed.result.drifts[0]).toMatchObject({ of: "task", name: "beta", part: "the task", expected: "there" });
  expect(malformed.result.drifts[0]?.found).toMatch(/^cannot be used: .*beta\/task\.toml:\d+:\d+: /);
  expect(malformed.result.problems).toEqual([expect.stringMatching(/study\.json was not run: 1 problem in the tasks/)]);
  await writeFile(toml, text);

  await writeStudy(join(place.dir, "study"), { ...options(), command: ["/absent", "--flag"] });
  const silent = await regress();
  expect(silent.code).toBe(1);
  expect(silent.result.counts).toMatchObject({ task: 0, server: 1, outcome: 0 });
  expect(silent.result.drifts.find(({ of }) => of === "server")).toMatchObject({ name: "standin", part: "the server" });
  expect(silent.result.problems).toEqual([expect.stringMatching(/was not run: its server does not answer/)]);

  for (const [change, why] of [
    [() => writeFile(study, "{"), /cannot be used: .*study\.json/],
    [() => rm(study), /cannot be used: the study file .* does not exist/],
  ] as const) {
    await change();
    const { code, result } = await regress();
    expect([code, result.drifts, result.problems]).toEqual([
      1,
      [expect.objectContaining({ of: "study", part: "the study", found: expect.stringMatching(why) })],
      [],
    ]);
  }
  await writeStudy(join(place.dir, "study"), options());

  await rename(dataset, `${dataset}-away`);
  const away = await regress();
  await rename(`${dataset}-away`, dataset);
  expect(away.code).toBe(1);
  expect(lines(away.result).filter((line) => line.startsWith("task"))).toEqual([
    "task alpha the task: there, nothing",
    "task beta the task: there, nothing",
  ]);
});

test("nothing is locked of an invalid task or of a live model, and a lock that is not there is bad usage", async () => {
  const bad = join(place.dir, "bad");
  await writeBundle(bad, "open", { test: grade("true") });
  const out = join(place.dir, "bad.json");
  const refused = await runner(["freeze", "--dataset", bad, "--out", out, "--evidence", join(place.dir, "freeze-bad")]);
  expect(refused.code).toBe(1);
  expect(refused.stdout).toMatch(/^refused: open is invalid: nop: reward 1, expected 0\n/);
  await expect(readFile(out)).rejects.toMatchObject({ code: "ENOENT" });
  const both = await runner(["freeze", "--study", study, "--dataset", bad, "--out", out]);
  expect(both.code).toBe(2);
  const model = { id: "live", api: "chat", baseUrl: "http://127.0.0.1:9/v1" };
  const live = await writeStudy(join(place.dir, "live"), { dataset, tasks: ["alpha"], model });
  const unlockable = await runner(["freeze", "--study", live, "--out", out]);
  expect(unlockable.code).toBe(2);
  expect(unlockable.stderr).toMatch(/answers live, so its outcomes cannot be locked/);
  expect((await runner(["regress", out])).stderr).toMatch(/the lock .*bad\.json does not exist/);
});
