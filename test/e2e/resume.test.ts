import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import {
  type CrashWorld,
  finishAndCheck,
  harmAfter,
  instants,
  killHard,
  makeCrashWorld,
  runWhole,
} from "../support/crash.ts";
import { type Bench, openBench } from "../support/docker.ts";
import {
  type Executed,
  json,
  ledgerOf,
  leftOfProcess,
  oracle,
  type Refusal,
  runner,
  scratch,
  start,
  until,
  writeBundle,
} from "../support/e2e.ts";
import { execute, rowLines, writeStudy } from "../support/e2e-study.ts";

let dir: string;
let remove: () => Promise<void>;
let bench: Bench;
let bridge: string;
let provider: Server;
/** Requests that the provider still answers with 429. */
let failures = 0;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  provider = createServer((request, response) => {
    request.resume().on("end", () => {
      failures -= 1;
      const status = failures >= 0 ? 429 : 200;
      const message = { role: "assistant", content: "I decline." };
      const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 };
      const answer = {
        id: "1",
        object: "chat.completion",
        model: "stand-in",
        choices: [{ index: 0, finish_reason: "stop", message }],
        usage,
      };
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(status === 200 ? answer : { error: { type: "rate_limit", message: "too many" } }));
    });
  });
  await new Promise<void>((resolve) => provider.listen(0, "0.0.0.0", resolve));
  bench = await openBench();
  const { IPAM: pool } = await bench.engine.docker.getNetwork("bridge").inspect();
  bridge = pool?.Config?.[0]?.Gateway ?? "172.17.0.1";
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  provider.closeAllConnections();
  await new Promise((resolve) => provider.close(resolve));
  await remove();
});

test("after kill -9 in the middle of a run, the resumed run is the uninterrupted one (the whole suite: npm run crash)", async () => {
  const world: CrashWorld = await makeCrashWorld(join(dir, "crash"), "model");
  const whole = join(world.dir, "whole");
  const duration = await runWhole(world, whole);
  const problems: string[] = [];
  for (const [index, instant] of instants(1, duration).entries()) {
    const out = join(world.dir, `killed-${index}`);
    await harmAfter(world, out, instant, killHard);
    problems.push(...(await finishAndCheck(world, out, whole)));
  }
  expect(problems).toEqual([]);
}, 900_000);

test("rate limits on one side become no scores; a resume makes exactly those trials again, under new anchors that are kept and signed", async () => {
  const dataset = join(dir, "limited");
  const tasks = ["e2e-one", "e2e-two", "e2e-three"];
  for (const task of tasks) await writeBundle(dataset, task, { instruction: "Decline.\n" });
  expect((await oracle(dataset, join(dir, "limited-oracle"))).code).toBe(0);
  const baseUrl = `http://${bridge}:${(provider.address() as AddressInfo).port}/v1`;
  const study = await writeStudy(join(dir, "limited-study"), {
    dataset,
    tasks,
    model: { id: "stand-in", api: "chat", baseUrl, apiKeyEnv: "E2E_KEY" },
  });
  await execa("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, "operator")]);
  const ledger = join(dir, "ledger.jsonl");
  const options = { env: { E2E_KEY: "sk-e2e-resume" } };
  const keep = ["--ledger", ledger, "--sign", join(dir, "operator")];
  const out = join(dir, "limited-out");

  // Two requests one after the other meet the limit, whichever trials they belong to.
  failures = 2;
  const first = await execute(study, "both", out, { args: [...keep, "--concurrency", "1"], ...options });
  expect(first.code).toBe(1);
  const lines = rowLines(first.result);
  const limited = lines.filter((line) => line.endsWith("provider_error PROVIDER_STATUS"));
  expect([limited.length, lines.filter((line) => line.endsWith("scored 0")).length]).toEqual([2, 4]);
  const compared = await runner(["compare", out, "--ledger", ledger, "--json"]);
  expect([compared.code, json<{ verdict: string }>(compared).verdict]).toEqual([0, "indecisive"]);

  const resumed = await runner(["resume", out, ...keep, "--json"], options);
  expect([resumed.code, resumed.stderr]).toEqual([0, expect.stringContaining("superseded sha256:")]);
  const { runs } = json<Executed>(resumed);
  const again = runs.flatMap(({ rows }) => rows).filter(({ attempt }) => attempt === 2);
  expect(again.map(({ task, condition }) => `${task} ${condition}`).sort()).toEqual(
    limited.map((line) => line.split(":", 1)[0]),
  );
  // Only the sides that had something to do have a new anchor.
  const old = new Map(first.result.runs.map(({ condition, report_sha256 }) => [condition, report_sha256]));
  expect(runs.map(({ condition, supersedes }) => [condition, supersedes])).toEqual(
    [...new Set(again.map(({ condition }) => condition))].sort().map((side) => [side, old.get(side)]),
  );
  for (const { condition, dir: bundle, report_sha256 } of runs) {
    const report = JSON.parse(await readFile(join(bundle, "report.json"), "utf8"));
    expect(report.superseded).toHaveLength(again.filter((row) => row.condition === condition).length);
    expect(report.earlier.map(({ digest }: { digest: string }) => digest)).toEqual([old.get(condition)]);
    const signers = join(dir, "signers");
    await writeFile(signers, `operator@example.org ${await readFile(join(dir, "operator.pub"), "utf8")}`);
    const words = ["-Y", "verify", "-f", signers, "-I", "operator@example.org", "-n", "jacobian-runner"];
    const verdict = await execa("ssh-keygen", [...words, "-s", `${bundle}.report.sig`], {
      input: await readFile(join(bundle, "report.json")),
      reject: false,
    });
    expect([verdict.exitCode, report_sha256]).toEqual([0, expect.stringMatching(/^sha256:/)]);
  }
  // The ledger has the new anchors as the latest, and the evidence holds against them.
  for (const command of ["verify", "compare"])
    expect((await runner([command, out, "--ledger", ledger])).code, command).toBe(0);
  const report = await runner(["report", out, "--ledger", ledger]);
  expect(report.stdout.match(/\| no: superseded \| provider\\_error \|/g)).toHaveLength(2);

  const nothing = await runner(["resume", out, ...keep], options);
  expect([nothing.code, nothing.stdout]).toEqual([0, expect.stringContaining(`nothing is missing in ${out}`)]);
  // A score that stands is not drawn again under the same plan, and not under another.
  await appendFile(join(dataset, "e2e-two", "instruction.md"), "Please.\n");
  const stale = await runner(["execute", "--study", study, "--condition", "control", "--execute", "--json"], options);
  expect(json<Refusal>(stale).error.code).toBe("ORACLE_EVIDENCE");
}, 900_000);

test("of two executions that are started into one new folder at once, one runs and the other is refused", async () => {
  const dataset = join(dir, "twice");
  await writeBundle(dataset, "e2e-twice");
  expect((await oracle(dataset, join(dir, "twice-oracle"))).code).toBe(0);
  const agent = { name: "command", command: "echo 42 > /app/answer.txt" };
  const study = await writeStudy(join(dir, "twice-study"), { dataset, tasks: ["e2e-twice"], agent });
  const out = join(dir, "twice-out");
  const args = ["execute", "--study", study, "--condition", "both", "--out", out, "--execute", "--json"];
  const [ran, refused] = (await Promise.all([runner(args), runner(args)])).sort(
    (a, b) => Number(a.code) - Number(b.code),
  );
  if (ran === undefined || refused === undefined) throw new Error("two were started");
  expect([ran.code, refused.code]).toEqual([0, 2]);
  expect(["RUN_BUSY", "OUT_NOT_EMPTY"]).toContain(json<Refusal>(refused).error.code);
  for (const { dir: bundle, report_sha256 } of json<Executed>(ran).runs) {
    const verified = await runner(["verify", bundle, "--report-sha256", report_sha256, "--json"]);
    expect(json(verified)).toMatchObject({ valid: true, trials: 1 });
  }
}, 300_000);

test("a run that is at work is resumed by nobody else; what it binds is held against what lies there, field by field", async () => {
  const dataset = join(dir, "bound");
  await writeBundle(dataset, "e2e-bound");
  expect((await oracle(dataset, join(dir, "bound-oracle"))).code).toBe(0);
  const command = "echo 42 > /app/answer.txt; sleep 30";
  const study = await writeStudy(join(dir, "bound-study"), {
    dataset,
    tasks: ["e2e-bound"],
    agent: { name: "command", command },
  });
  const written = await readFile(study, "utf8");
  await writeFile(study, JSON.stringify({ ...JSON.parse(written), allowEnvironment: ["E2E_REGION"] }));
  vi.stubEnv("E2E_REGION", "north-by-northwest");
  const plan = join(dir, "bound-plan");
  const planned = await runner(["plan", "--study", study, "--out", plan, "--json"]);
  expect([planned.code, planned.stderr]).toEqual([0, expect.stringMatching(/^plan_sha256 sha256:/m)]);
  const out = join(dir, "bound-out");
  const running = start(["execute", "--plan", plan, "--condition", "control", "--out", out, "--execute"]);
  await until("an agent at work", async () => (await leftOfProcess(running.pid)).includes("container agent"));
  const busy = await runner(["resume", out, "--json"]);
  expect([busy.code, json<Refusal>(busy).error.code]).toEqual([2, "RUN_BUSY"]);
  running.kill("SIGKILL");
  await running;

  const instruction = join(dataset, "e2e-bound", "instruction.md");
  const text = await readFile(instruction, "utf8");
  const original = await readFile(study, "utf8");
  await writeFile(instruction, `${text}Please.\n`);
  for (const args of [
    ["resume", out, "--json"],
    ["execute", "--plan", plan, "--condition", "control", "--json"],
  ]) {
    const { code, stdout } = await runner(args);
    const { error } = JSON.parse(stdout) as Refusal;
    expect([code, error.code, error.message]).toEqual([
      2,
      "PLAN_CHANGED",
      expect.stringMatching(
        /^the plan no longer holds: \/tasks\/0\/digests\/contract \(e2e-bound\): planned "sha256:.*", found "sha256:/,
      ),
    ]);
  }
  await writeFile(instruction, text);
  await writeFile(study, original.replace('"agentSeconds":60', '"agentSeconds":61'));
  const budget = await runner(["resume", out, "--json"]);
  expect([budget.code, json<Refusal>(budget).error.message]).toEqual([
    2,
    expect.stringContaining("/budgets/agentSeconds: planned 60, found 61; /studyDigest: planned"),
  ]);
  await writeFile(study, original);
  const region = await runner(["resume", out, "--json"], { env: { E2E_REGION: "elsewhere" } });
  expect([region.code, json<Refusal>(region).error.message]).toEqual([
    2,
    expect.stringMatching(
      /^the plan no longer holds: \/environment\/E2E_REGION: planned "hmac-sha256:.*", found "hmac-sha256:/,
    ),
  ]);
  expect(await readFile(join(out, "plan.json"), "utf8")).not.toMatch(/north-by-northwest/);
  await rm(study);
  const moved = join(dir, "bound-study", "moved.json");
  await writeFile(moved, original);
  const resumed = await runner(["resume", out, "--study", moved, "--json"]);
  const { runs } = json<Executed>(resumed);
  expect([resumed.code, rowLines({ planDigest: "", runs }), runs[0]?.rows.map(({ attempt }) => attempt)]).toEqual([
    0,
    ["e2e-bound control: scored 1"],
    [2],
  ]);
  const types = (await ledgerOf(out)).map(({ event }) => (event as { type: string }).type);
  expect(types).toEqual([
    "run-opened",
    "trial-started",
    "trial-interrupted",
    "run-cut-off",
    "run-resumed",
    "trial-started",
    "trial-sealed",
    "run-closed",
  ]);
  const report = JSON.parse(await readFile(join(out, "report.json"), "utf8"));
  expect([report.order, report.cutOff]).toEqual(["separate", [{ number: report.trials[0].number, attempt: 1 }]]);
});

test("a full disk stops a run with one error, and the resume goes on when there is room again", async () => {
  const small = join(dir, "small");
  await mkdir(small);
  const dataset = join(dir, "flood");
  await writeBundle(dataset, "e2e-flood");
  expect((await oracle(dataset, join(dir, "flood-oracle"))).code).toBe(0);
  const command = "echo 42 > /app/answer.txt; head -c 3000000 /dev/urandom";
  const study = await writeStudy(join(dir, "flood-study"), {
    dataset,
    tasks: ["e2e-flood"],
    agent: { name: "command", command },
  });
  await execa("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", small]);
  try {
    const out = join(small, "out");
    const full = await runner([
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
    const { error } = json<Refusal>(full);
    expect([full.code, error.code, full.stderr]).toEqual([
      2,
      "EVIDENCE_WRITE",
      expect.stringContaining(`continue with \`runner resume ${out}\``),
    ]);
    await execa("mount", ["-o", "remount,size=64m", small]);
    const resumed = await runner(["resume", out, "--json"]);
    const { runs } = json<Executed>(resumed);
    expect([resumed.code, rowLines({ planDigest: "", runs })]).toEqual([0, ["e2e-flood control: scored 1"]]);
    const verified = await runner(["verify", out, "--report-sha256", runs[0]?.report_sha256 ?? ""]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining("valid: run")]);
  } finally {
    await execa("umount", [small]);
  }
});
