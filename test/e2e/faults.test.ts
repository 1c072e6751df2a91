import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { packBuffer } from "../../runner/docker/archive/pack.ts";
import { connectEngine } from "../../runner/docker/engine.ts";
import { LABEL } from "../../runner/docker/ownership.ts";
import type { TrialRow } from "../../runner/study/trial-row.ts";
import {
  type Executed,
  json,
  leftOfProcess,
  oracle,
  type Refusal,
  recordsOf,
  scratch,
  start,
  until,
  writeBundle,
} from "../support/e2e.ts";
import { execute, rowLines, standIn, talk, writeStudy } from "../support/e2e-study.ts";

const ANSWER = "echo 42 > /app/answer.txt";
const TASKS = ["dies", "miss", "requests", "seconds", "tokens", "tools", "tries-mcp", "unused", "used"].map(
  (name) => `e2e-${name}`,
);
const usage = { input: 100, output: 10 };
const add = (a: number, b: number) => ({ name: "calc.add", arguments: { a, b } });
const calls = (task: string, sums: readonly [number, number][], last: string) => ({
  scope: { task, condition: "any" as const },
  exchanges: [
    ...sums.map(([a, b], index) => ({ match: { turn: index + 1 }, reply: { toolCalls: [add(a, b)], usage } })),
    {
      match: { turn: sums.length + 1, expect: last === "" ? [] : [{ contains: last }] },
      reply: { toolCalls: [{ name: "shell", arguments: { command: ANSWER } }], usage },
    },
    { match: { turn: sums.length + 2 }, reply: { text: "Done.", usage } },
  ],
});
const CONVERSATIONS = [
  calls("e2e-dies", [[666, 1]], ""),
  {
    scope: { task: "e2e-miss", condition: "any" as const },
    exchanges: [
      {
        match: { turn: 1, expect: [{ on: "instruction" as const, contains: "another task" }] },
        reply: { text: "Done." },
      },
    ],
  },
  talk("e2e-requests", ANSWER, "true", "true", "true", "true"),
  talk("e2e-seconds", `${ANSWER}; sleep 100`),
  {
    scope: { task: "e2e-tokens", condition: "any" as const },
    exchanges: [
      {
        match: { turn: 1 },
        reply: {
          toolCalls: [{ name: "shell", arguments: { command: ANSWER } }],
          usage: { input: 999_000, output: 2_000 },
        },
      },
      { match: { turn: 2 }, reply: { text: "Done.", usage } },
    ],
  },
  calls(
    "e2e-tools",
    [
      [1, 1],
      [2, 2],
      [3, 3],
    ],
    "",
  ),
  talk(
    "e2e-tries-mcp",
    `curl --silent --max-time 5 --data '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' http://gateway:8080/mcp; ${ANSWER}`,
  ),
  talk("e2e-unused", ANSWER),
  calls("e2e-used", [[2, 3]], "5"),
];

let dir: string;
let remove: () => Promise<void>;
let dataset: string;
let study: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  for (const task of TASKS) await writeBundle(dataset, task);
  expect((await oracle(dataset, join(dir, "oracle"))).code).toBe(0);
  study = await writeStudy(join(dir, "study"), {
    dataset,
    tasks: TASKS,
    budgets: { agentSeconds: 20, modelRequests: 4, tokens: 1_000_000, toolCalls: 2 },
    conversations: CONVERSATIONS,
    // A server that breaks when it is asked for a certain sum.
    command: standIn("if (message.params?.arguments?.a === 666) process.exit(9);"),
  });
});
afterAll(() => remove());

const only = (...names: string[]) => ["--tasks", ...names.map((name) => `e2e-${name}`)];

function row(result: Executed, task: string): TrialRow {
  const found = result.runs.flatMap(({ rows }) => rows).find((candidate) => candidate.task === `e2e-${task}`);
  if (found === undefined) throw new Error(`no row of ${task}`);
  return found;
}

/** The MCP figures of a trial; what the boundary saw. */
function mcp(result: Executed, task: string): Record<string, unknown> {
  const { metrics } = row(result, task);
  if (metrics === null || "unknown" in metrics) throw new Error(`no metrics of ${task}: ${JSON.stringify(metrics)}`);
  const { calls: made, valid, refused } = metrics.mcp;
  return { use: metrics.use, calls: made, valid, refused };
}

test("each budget ends the agent under its own name, and its work is graded; an attempt at the server in control is recorded", async () => {
  const { code, result } = await execute(study, "control", join(dir, "control"), {
    args: only("miss", "requests", "seconds", "tokens", "tries-mcp"),
  });
  expect([code, rowLines(result)]).toEqual([
    1,
    [
      "e2e-miss control: provider_error PROVIDER_CASSETTE_MISS",
      "e2e-requests control: scored 1",
      "e2e-seconds control: scored 1",
      "e2e-tokens control: scored 1",
      "e2e-tries-mcp control: scored 1",
    ],
  ]);
  const ends = Object.fromEntries(
    (await recordsOf(result.runs[0]?.dir ?? "")).map(({ task, steps }) => [
      task,
      [steps[0]?.agentEnd?.by, steps[0]?.agentEnd?.detail],
    ]),
  );
  expect(ends).toEqual({
    "e2e-miss": ["crash", "ended because of the gateway's provider-error"],
    "e2e-requests": ["budget", "modelRequests: 4 used of 4"],
    "e2e-seconds": ["timeout", "the study's limit of 20 s"],
    "e2e-tokens": ["budget", "tokens: 1001000 used of 1000000"],
    "e2e-tries-mcp": ["self", null],
  });
  expect(mcp(result, "tries-mcp")).toEqual({ use: "not-offered", calls: 0, valid: 0, refused: 1 });
  expect(mcp(result, "requests")).toEqual({ use: "not-offered", calls: 0, valid: 0, refused: 0 });
});

test("a server that was used, was not, ran into the budget or died under the agent: each looks like itself", async () => {
  const { code, result } = await execute(study, "treatment", join(dir, "treatment"), {
    args: only("dies", "tools", "unused", "used"),
  });
  expect([code, rowLines(result)]).toEqual([
    1,
    [
      "e2e-dies treatment: invalid_condition MCP_SERVER_DIED",
      "e2e-tools treatment: scored 0",
      "e2e-unused treatment: scored 1",
      "e2e-used treatment: scored 1",
    ],
  ]);
  expect(mcp(result, "unused")).toEqual({ use: "unused", calls: 0, valid: 0, refused: 0 });
  expect(mcp(result, "used")).toEqual({ use: "used", calls: 1, valid: 1, refused: 0 });
  expect(mcp(result, "tools")).toMatchObject({ use: "used", calls: 2, valid: 2, refused: 1 });
  expect(mcp(result, "dies")).toMatchObject({ use: "attempted", calls: 1, valid: 0 });
  const records = new Map((await recordsOf(result.runs[0]?.dir ?? "")).map((record) => [record.task, record]));
  expect(records.get("e2e-tools")?.steps[0]?.agentEnd).toMatchObject({
    by: "budget",
    detail: "toolCalls: 2 used of 2",
  });
  expect(records.get("e2e-dies")?.cause?.detail).toContain("ended with exit code 9");
});

/** Servers that fail before the first trial: what the error must say. */
const BROKEN: readonly {
  readonly name: string;
  readonly command: string[];
  readonly code: string;
  readonly says: RegExp;
}[] = [
  {
    name: "does not start",
    command: ["node", "-e", "console.error('unrecognized arguments: --frobnicate'); process.exit(3)"],
    code: "MCP_PREFLIGHT",
    says: /ended with exit code 3: unrecognized arguments: --frobnicate \(MCP_SERVER_DIED\)/,
  },
  {
    name: "is no program",
    command: ["no-such-program", "--serve"],
    code: "MCP_PREFLIGHT",
    says: /no-such-program/,
  },
  {
    name: "keeps its port closed",
    command: ["node", "-e", "setInterval(() => {}, 1000)"],
    code: "MCP_PREFLIGHT",
    says: /initialize could not be sent: the connection was refused \(MCP_UNREACHABLE\)/,
  },
  {
    name: "answers 421",
    command: standIn('response.writeHead(421).end("wrong host"); return true;'),
    code: "MCP_PREFLIGHT",
    says: /initialize was answered with HTTP 421: "wrong host" \(MCP_MISDIRECTED\)/,
  },
  {
    name: "lists no tools",
    command: standIn('if (message.method === "tools/list") { response.writeHead(500).end("broken"); return true; }'),
    code: "MCP_PREFLIGHT",
    says: /tools\/list was answered with HTTP 500: "broken" \(MCP_HTTP_STATUS\)/,
  },
  {
    name: "pages for ever",
    command: standIn('if (message.method === "tools/list") { answer({ tools: [], nextCursor: "x" }); return true; }'),
    code: "MCP_PREFLIGHT",
    says: /\(MCP_ENDLESS_PAGING\)/,
  },
  {
    name: "has another surface",
    command: standIn(
      'if (message.method === "initialize") { answer({ protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "stand-in", version: "2.0.0" } }); return true; }',
    ),
    code: "MCP_SURFACE_CHANGED",
    says: /advertises sha256:[0-9a-f]{64}, locked is sha256:[0-9a-f]{64}/,
  },
];

test("a server that fails its preflight is refused before the first trial: one error that says why, and nothing is created", async () => {
  const attempts = BROKEN.map(async ({ name, command }) => {
    const folder = join(dir, name.replaceAll(" ", "-"));
    const broken = await writeStudy(folder, {
      dataset,
      tasks: ["e2e-used"],
      conversations: CONVERSATIONS,
      command,
      startSeconds: 4,
    });
    const out = join(folder, "out");
    const running = start(["execute", "--study", broken, "--condition", "both", "--out", out, "--execute", "--json"]);
    const { exitCode, stdout, stderr } = await running;
    const { error } = json<Refusal>({ code: exitCode, stdout, stderr });
    return { name, exitCode, error, out: existsSync(out), left: await leftOfProcess(running.pid) };
  });
  for (const [index, { error, ...seen }] of (await Promise.all(attempts)).entries()) {
    const { name, code, says } = BROKEN[index] ?? {};
    expect({ ...seen, code: error.code }).toEqual({ name, code, exitCode: 2, out: false, left: [] });
    expect(error.message).toMatch(says ?? "");
    expect(error.hint).toContain("No trial was started.");
  }
});

test("a server that breaks in the middle of a run makes its trial an invalid_condition, and the run goes on", async () => {
  // The server waits for a file that says how it shall behave, so that the test decides for each trial.
  const command = [
    "sh",
    "-c",
    'until [ -s /mode ]; do sleep 0.1; done; [ "$(cat /mode)" = good ] || { echo "out of luck" >&2; exit 4; }; exec "$@"',
    "sh",
    ...standIn(),
  ];
  const tasks = ["e2e-tools", "e2e-unused", "e2e-used"];
  const fickle = await writeStudy(join(dir, "fickle"), {
    dataset,
    tasks,
    conversations: CONVERSATIONS,
    command,
    startSeconds: 60,
  });
  const out = join(dir, "fickle", "out");
  const running = start([
    "execute",
    "--study",
    fickle,
    "--condition",
    "treatment",
    "--out",
    out,
    "--execute",
    "--json",
    "--concurrency",
    "1",
  ]);
  let ended = false;
  const done = running.finally(() => {
    ended = true;
  });
  await using engine = await connectEngine();
  const told = new Set<string>();
  const filters = { label: [`${LABEL.pid}=${running.pid}`, `${LABEL.role}=mcp`] };
  await until(
    "the end of the run",
    async () => {
      for (const { Id: id, Labels: labels } of await engine.docker.listContainers({ filters })) {
        if (told.has(id)) continue;
        told.add(id);
        const content = told.size === 2 ? "bad" : "good";
        // The server that the preflight asked is the first trial's.
        expect(labels[LABEL.trial]).toContain("-treatment-");
        await engine.docker
          .getContainer(id)
          .putArchive(await packBuffer([{ path: "mode", type: "file", content }]), { path: "/" });
      }
      return ended;
    },
    240,
  );
  const { exitCode, stdout, stderr } = await done;
  const result = json<Executed>({ code: exitCode, stdout, stderr });
  expect(exitCode).toBe(1);
  expect(result.runs[0]?.rows.map(({ outcome, cause }) => [outcome, cause])).toEqual([
    ["scored", null],
    ["invalid_condition", "MCP_SERVER_DIED"],
    ["scored", null],
  ]);
  const [, second] = await recordsOf(out);
  expect(second?.cause?.detail).toBe("the MCP server standin ended with exit code 4: out of luck");
  expect([second?.reward, second?.steps]).toEqual([null, []]);
  expect(await leftOfProcess(running.pid)).toEqual([]);
}, 300_000);
