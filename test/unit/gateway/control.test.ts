import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { systemClock } from "../../../runner/base/clock.ts";
import { digestBytes } from "../../../runner/base/digest.ts";
import type { GatewayNotice } from "../../../runner/base/formats/gateway-protocol.ts";
import { gatewayNoticeSchema } from "../../../runner/base/formats/gateway-protocol.ts";
import { runControl } from "../../../runner/gateway/control.ts";
import { testConfig } from "../../support/model-provider-gateway.ts";

let folder = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-control-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function start() {
  const commands = new PassThrough();
  const notices: GatewayNotice[] = [];
  const done = runControl({
    commands,
    clock: systemClock,
    notify: (notice) => notices.push(gatewayNoticeSchema.parse(JSON.parse(JSON.stringify(notice)))),
    paths: {
      config: join(folder, "config.json"),
      cassette: join(folder, "cassette.json"),
      evidence: join(folder, "evidence"),
    },
    listen: { port: 0, host: "127.0.0.1" },
  });
  const until = async (name: GatewayNotice["notice"]) => {
    for (;;) {
      const found = notices.find(({ notice }) => notice === name);
      if (found !== undefined) return found;
      await delay(5);
    }
  };
  return {
    notices,
    done,
    until,
    say: (text: string) => void commands.write(`${text}\n`),
    hangUp: () => void commands.end(),
  };
}

async function writeConfig(value: unknown): Promise<void> {
  await writeFile(join(folder, "config.json"), JSON.stringify(value));
}

test("a gateway waits idle, is configured, listens, runs and finishes with the digest of its trace", async () => {
  const { notices, done, until, say } = start();
  await until("idle");
  await writeConfig(testConfig());
  for (const command of ["configure", "listen", "agent-started", "agent-ended", "finish"])
    say(JSON.stringify({ do: command }));
  expect(await done).toBe(0);
  expect(await readdir(folder)).toEqual(["evidence"]);
  expect(notices.map(({ notice }) => notice)).toEqual(["idle", "configured", "ready", "finished"]);
  const trace = await readFile(join(folder, "evidence", "trace.jsonl"));
  expect(notices.at(-1)).toMatchObject({
    traceDigest: digestBytes(trace),
    traceBytes: trace.length,
    surfaceDigest: null,
  });
  expect(
    trace
      .toString()
      .split("\n")
      .map((line) => (line === "" ? "" : JSON.parse(line).type)),
  ).toEqual(["start", "phase", "phase", "phase", "phase", "end", ""]);
});

test("when the runner is gone the gateway closes its routes, completes its evidence and ends", async () => {
  await writeConfig(testConfig());
  const { notices, done, say, hangUp } = start();
  for (const command of ["configure", "listen", "agent-started"]) say(JSON.stringify({ do: command }));
  hangUp();
  expect(await done).toBe(0);
  expect(notices.at(-1)?.notice).toBe("finished");
});

test.each([
  ["a config file that is missing", null, "config", /config\.json cannot be read/],
  ["an unknown key", { ...testConfig(), budget: 1 }, "config", /Unrecognized key: "budget"/],
  [
    "an MCP server in control",
    testConfig({ scope: { task: "t", condition: "control", repetition: 1 }, mcp: { url: "http://x/mcp" } }),
    "config",
    /mcp: control has no MCP server/,
  ],
  [
    "a cost budget without prices",
    testConfig({ model: { id: "m", baseUrl: "http://x/v1" }, budgets: { costMicroUsd: 1 } }),
    "config",
    /a cost budget needs prices/,
  ],
  ["a model without a provider", testConfig({ model: { id: "m", baseUrl: null } }), "config", /expected a baseUrl/],
  ["a rule that is no host", testConfig({ proxy: { allow: ["http://x"] } }), "config", /is no host/],
] as const)("%s is fatal, with the place", async (_title, config, code, words) => {
  if (config !== null) await writeConfig(config);
  const { notices, done, say } = start();
  say('{"do":"configure"}');
  expect(await done).toBe(1);
  expect(notices.at(-1)).toMatchObject({ notice: "fatal", code, detail: expect.stringMatching(words) });
});

test.each([
  [
    "for another task",
    { scope: { task: "other", condition: "any" }, exchanges: [{ match: { turn: 1 }, reply: {} }] },
    /no conversation for task-1, treatment, repetition 1/,
  ],
  [
    "with a broken expression",
    {
      scope: { task: "task-1", condition: "any" },
      exchanges: [{ match: { turn: 1, expect: [{ matches: "(" }] }, reply: {} }],
    },
    /Invalid regular expression/,
  ],
])("a cassette %s is fatal before anything is asked", async (_title, conversation, words) => {
  await writeConfig(testConfig({ model: { id: "m", baseUrl: null }, replay: true }));
  await writeFile(
    join(folder, "cassette.json"),
    JSON.stringify({ schemaVersion: "1", modelSource: "scripted", conversations: [conversation] }),
  );
  const { notices, done, say } = start();
  say('{"do":"configure"}');
  expect(await done).toBe(1);
  expect(notices.at(-1)).toMatchObject({ notice: "fatal", code: "cassette", detail: expect.stringMatching(words) });
});

test.each(['{"do":"dance"}', "not json", '{"do":"listen"}'])("the command %s is fatal", async (command) => {
  const { notices, done, say } = start();
  say(command);
  expect(await done).toBe(1);
  expect(notices.at(-1)).toMatchObject({ notice: "fatal", code: "command" });
});

test("evidence beyond its cap is fatal while the agent runs, and the trace has no end", async () => {
  await writeConfig(testConfig({ limits: { evidenceBytes: 60_000 } }));
  const { notices, done, until, say } = start();
  for (const command of ["configure", "listen", "agent-started"]) say(JSON.stringify({ do: command }));
  const ready = await until("ready");
  const url = `http://127.0.0.1:${ready.notice === "ready" ? ready.port : 0}`;
  for (let index = 0; index < 20; index += 1) {
    await fetch(`${url}/mcp`, { method: "POST", body: `${index}${"x".repeat(5000)}` }).catch(() => undefined);
  }
  expect(await done).toBe(1);
  expect(notices.at(-1)).toMatchObject({ notice: "fatal", code: "evidence-cap" });
  expect((await readFile(join(folder, "evidence", "trace.jsonl"), "utf8")).includes('"type":"end"')).toBe(false);
  const sizes = await Promise.all(
    (await readdir(join(folder, "evidence"), { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map(async (entry) => (await readFile(join(entry.parentPath, entry.name))).length),
  );
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(60_000);
});
