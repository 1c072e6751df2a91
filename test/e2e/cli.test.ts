import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BUNDLES, json, oracle, type Refusal, runner, scratch, writeBundle, writeFiles } from "../support/e2e.ts";
import { execute, rowLines, talk, writeStudy } from "../support/e2e-study.ts";

let dir: string;
let remove: () => Promise<void>;
let dataset: string;
const TASK = "e2e-cli";

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK);
});
afterAll(() => remove());

/** Runs `execute` where it must be refused, and gives the error; nothing may be created. */
async function refused(
  study: string,
  args: readonly string[] = ["--execute"],
  env: Record<string, string> = {},
): Promise<Refusal["error"]> {
  const out = join(dir, "refused-out");
  const ran = await runner(["execute", "--study", study, "--condition", "control", "--out", out, "--json", ...args], {
    env,
  });
  expect(ran.code).toBe(2);
  expect(existsSync(out)).toBe(false);
  // The same words reach whoever reads the terminal.
  const { error } = json<Refusal>(ran);
  expect(ran.stderr).toContain(`runner: ${error.message}`);
  return error;
}

test("no engine is one error with the socket and what to do", async () => {
  const study = await writeStudy(join(dir, "study"), { dataset, tasks: [TASK], agent: { name: "nop" } });
  const none = await refused(study, ["--execute"], { DOCKER_HOST: `unix://${join(dir, "no.sock")}` });
  expect(none.code).toBe("NO_DOCKER");
  expect(none.message).toContain(join(dir, "no.sock"));
  expect(none.hint).toMatch(/runner doctor/);
  const doctor = await runner(["doctor", "--json"], { env: { DOCKER_HOST: `unix://${join(dir, "no.sock")}` } });
  expect(doctor.code).toBe(1);
});

test("a study file with an unknown key, a wrong value or a syntax error is refused with its place", async () => {
  const study = await writeStudy(join(dir, "keys"), { dataset, tasks: [TASK], agent: { name: "nop" } });
  const text = await readFile(study, "utf8");
  await writeFile(study, text.replace('"seed":7', '"seed":7,"sede":7'));
  const unknown = await refused(study);
  expect([unknown.code, unknown.message]).toEqual([
    "INPUT_INVALID",
    expect.stringMatching(new RegExp(`^${study}: .*sede`)),
  ]);
  await writeFile(study, text.replace('"seed":7', '"seed":7,"seed":8'));
  const twice = await refused(study);
  expect([twice.code, twice.message]).toEqual([
    "JSON_INVALID",
    expect.stringMatching(/study\.json.*line 1, column [0-9]+.*seed/),
  ]);
  await writeFile(study, text.replace('"agentSeconds":60', '"agentSeconds":0'));
  expect((await refused(study)).message).toContain("budgets.agentSeconds");
  const missing = await refused(join(dir, "nowhere.json"));
  expect([missing.code, missing.message]).toEqual([
    "STUDY_UNREADABLE",
    `the study file ${join(dir, "nowhere.json")} does not exist`,
  ]);
});

test("execute needs current oracle evidence: missing at first, valid after the oracle, stale with what changed", async () => {
  const study = await writeStudy(join(dir, "proof"), {
    dataset,
    tasks: [TASK],
    agent: { name: "command", command: "echo 42 > answer.txt" },
  });
  await writeFiles(join(dataset, TASK), { "instruction.md": `Never proven: ${process.pid} ${Date.now()}.\n` });
  const first = await refused(study, []);
  expect(first.code).toBe("ORACLE_EVIDENCE");
  const proven = await oracle(dataset, join(dir, "proven"));
  expect(proven.code).toBe(0);

  // Without --execute: the plan and the call budget, and nothing is created.
  const out = join(dir, "planned");
  const planned = await runner(["execute", "--study", study, "--condition", "both", "--out", out, "--json"]);
  expect([planned.code, json(planned), existsSync(out)]).toMatchObject([
    0,
    { conditions: ["control", "treatment"], callBudget: { modelRequests: 0 }, plan: { studyId: "e2e", model: null } },
    false,
  ]);
  const { code, result } = await execute(study, "control", out);
  expect([code, rowLines(result)]).toEqual([0, [`${TASK} control: scored 1`]]);
  const bundle = result.runs[0];
  const verified = await runner([
    "verify",
    bundle?.dir ?? "",
    "--report-sha256",
    bundle?.report_sha256 ?? "",
    "--json",
  ]);
  expect([verified.code, json(verified)]).toMatchObject([0, { valid: true, kind: "run", trials: 1, reasons: [] }]);
  const forged = await runner(["verify", bundle?.dir ?? "", "--report-sha256", `sha256:${"0".repeat(64)}`, "--json"]);
  expect([forged.code, json(forged)]).toMatchObject([1, { valid: false }]);
  const occupied = await runner([
    "execute",
    "--study",
    study,
    "--condition",
    "control",
    "--out",
    out,
    "--execute",
    "--json",
  ]);
  expect([occupied.code, json<Refusal>(occupied).error.code]).toEqual([2, "OUT_NOT_EMPTY"]);

  const script = join(dataset, TASK, "tests", "test.sh");
  await writeFile(script, `${await readFile(script, "utf8")}# changed\n`);
  const stale = await refused(study);
  expect([stale.code, stale.message]).toEqual([
    "ORACLE_EVIDENCE",
    `tasks without current oracle evidence: ${TASK}: stale, because of verifier`,
  ]);
  expect(stale.hint).toContain(`runner oracle --dataset ${dataset} --tasks ${TASK}`);
});

test("execute refuses by name what it cannot give fairly: servers, skills, trajectories, a public network", async () => {
  const tasks = ["mcp-servers", "public-network", "skills", "trajectory"];
  const study = await writeStudy(join(dir, "needs"), {
    dataset: join(BUNDLES, "refused"),
    tasks,
    agent: { name: "nop" },
  });
  const error = await refused(study);
  for (const task of tasks) expect(error.message).toContain(task);
});

test("a task that is not there, and a conversation that is not there, are refused before anything starts", async () => {
  const named = await refused(
    await writeStudy(join(dir, "named"), { dataset, tasks: ["e2e-nobody"], agent: { name: "nop" } }),
  );
  expect(named.message).toContain("e2e-nobody");
  const proven = await oracle(dataset, join(dir, "proven-2"));
  expect(proven.code).toBe(0);
  const silent = await refused(
    await writeStudy(join(dir, "silent"), { dataset, tasks: [TASK], conversations: [talk("e2e-other", "true")] }),
  );
  expect([silent.code, silent.message]).toEqual([
    "CASSETTE_MISSING",
    `no cassette holds a conversation for ${TASK}, treatment, repetition 1, API chat`,
  ]);
});
