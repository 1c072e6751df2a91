import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  json,
  ledgerOf,
  leftOfProcess,
  oracle,
  type Refusal,
  readRecord,
  runner,
  scratch,
  start,
  until,
  writeBundle,
} from "../support/e2e.ts";
import { talk, writeStudy } from "../support/e2e-study.ts";

const SLEEPS = "echo 42 > /app/answer.txt; sleep 300";

let dir: string;
let remove: () => Promise<void>;
let dataset: string;
let study: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, "e2e-sleeps");
  await writeBundle(dataset, "e2e-waits");
  expect((await oracle(dataset, join(dir, "oracle"))).code).toBe(0);
  study = await writeStudy(join(dir, "study"), {
    dataset,
    tasks: ["e2e-sleeps", "e2e-waits"],
    conversations: [talk("e2e-sleeps", SLEEPS), talk("e2e-waits", SLEEPS)],
    budgets: { agentSeconds: 300 },
  });
});
afterAll(() => remove());

/** Starts a treatment run and waits until both agents are at work. */
async function atWork(out: string, concurrency = 2) {
  const args = [
    "execute",
    "--study",
    study,
    "--condition",
    "treatment",
    "--out",
    out,
    "--execute",
    "--concurrency",
    String(concurrency),
  ];
  const running = start(args);
  await until(`${concurrency} agents at work`, async () => {
    if (running.exitCode != null) throw new Error("the run ended early");
    const { stdout } = await execa("docker", [
      "ps",
      "--quiet",
      "--filter",
      `label=dev.jacobian-runner.pid=${running.pid}`,
      "--filter",
      "label=dev.jacobian-runner.role=agent",
    ]);
    const ids = stdout.split("\n").filter((id) => id !== "");
    if (ids.length < concurrency) return false;
    const tops = await Promise.all(ids.map((id) => execa("docker", ["top", id, "-eo", "pid,args"], { reject: false })));
    return tops.every((top) => top.stdout?.includes("sleep 300"));
  });
  // Wrapped, because the process is a promise of its end.
  return { running };
}

test.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)(
  "%s stops the run, removes everything and ends with exit code %i; each begun trial is sealed as interrupted",
  async (signal, code) => {
    const out = join(dir, signal);
    const { running } = await atWork(out);
    expect(await leftOfProcess(running.pid)).toContain("container mcp");
    running.kill(signal);
    if (signal === "SIGINT") {
      // Whoever is impatient must not make it worse.
      setTimeout(() => running.kill("SIGINT"), 200);
    }
    const { exitCode, stderr, stdout } = await running;
    expect(exitCode).toBe(code);
    expect(stderr).toContain(`${signal}: stopping, and removing whatever this run has started`);
    expect(stdout).toBe("");
    expect(await leftOfProcess(running.pid)).toEqual([]);
    const events = (await ledgerOf(out)).map(({ event }) => event as Record<string, unknown>);
    expect(events.map(({ type }) => type).sort()).toEqual([
      "run-opened",
      "trial-sealed",
      "trial-sealed",
      "trial-started",
      "trial-started",
    ]);
    for (const { outcome, record } of events.filter(({ type }) => type === "trial-sealed")) {
      expect(outcome).toBe("interrupted");
      const sealed = await readRecord(out, record as { digest: string });
      expect([sealed.outcome, sealed.reward, sealed.cause]).toEqual([
        "interrupted",
        null,
        { code: "INTERRUPTED", detail: `interrupted by ${signal}` },
      ]);
    }
  },
);

test("what a killed run left behind is removed by the next start, which touches nothing of a run that lives", async () => {
  const { running: killed } = await atWork(join(dir, "killed"));
  const { running: alive } = await atWork(join(dir, "alive"), 1);
  killed.kill("SIGKILL");
  await killed;
  const left = await leftOfProcess(killed.pid);
  expect(new Set(left)).toEqual(
    new Set(["container agent", "container gateway", "container mcp", "network agent-network", "network mcp-network"]),
  );
  const others = await leftOfProcess(alive.pid);
  const next = await runner([
    "oracle",
    "--dataset",
    dataset,
    "--tasks",
    "e2e-sleeps",
    "--out",
    join(dir, "next"),
    "--json",
  ]);
  expect(next.code).toBe(0);
  expect(next.stderr).toMatch(/removed container "agent" that run .* left behind/);
  expect(await leftOfProcess(killed.pid)).toEqual([]);
  expect(await leftOfProcess(alive.pid)).toEqual(others);
  const types = (await ledgerOf(join(dir, "killed"))).map(({ event }) => (event as { type: string }).type);
  // The attempts that the dead run had begun are marked, so that nobody takes them for running or missing.
  expect(types).toEqual([
    "run-opened",
    "trial-started",
    "trial-started",
    "trial-interrupted",
    "trial-interrupted",
    "run-cut-off",
  ]);

  alive.kill("SIGINT");
  expect((await alive).exitCode).toBe(130);
  expect(await leftOfProcess(alive.pid)).toEqual([]);
});

test("an interrupted oracle leaves no snapshot of an agent's filesystem", async () => {
  const slow = join(dir, "slow");
  await writeBundle(slow, "e2e-slow", { test: "#!/bin/sh\nsleep 300\n" });
  const running = start(["oracle", "--dataset", slow, "--out", join(dir, "slow-out"), "--json"]);
  await until("a verifier at work", async () => (await leftOfProcess(running.pid)).includes("container verifier"));
  expect(await leftOfProcess(running.pid)).toContain("image snapshot");
  running.kill("SIGINT");
  const { exitCode, stdout } = await running;
  expect([exitCode, JSON.parse(stdout)]).toMatchObject([130, { error: { code: "INTERRUPTED" } }]);
  expect(await leftOfProcess(running.pid)).toEqual([]);
});

test("evidence that cannot be written stops the run with one error, and nothing is left in the engine", async () => {
  const small = join(dir, "small");
  await mkdir(small);
  await execa("mount", ["-t", "tmpfs", "-o", "size=256k", "tmpfs", small]);
  try {
    const flood = join(dir, "flood");
    await writeBundle(flood, "e2e-flood", { solve: "#!/bin/sh\nyes | head -c 3000000\n" });
    await writeBundle(flood, "e2e-other");
    const running = start(["oracle", "--dataset", flood, "--out", small, "--json"]);
    const { exitCode, stdout, stderr } = await running;
    const { error } = json<Refusal>({ code: exitCode, stdout, stderr });
    expect([exitCode, error.code]).toEqual([2, "EVIDENCE_WRITE"]);
    expect(error.message).toContain("ENOSPC");
    expect(await leftOfProcess(running.pid)).toEqual([]);
  } finally {
    await execa("umount", [small]);
  }
});
