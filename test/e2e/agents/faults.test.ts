import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TrialRecord } from "../../../runner/trial/record.ts";
import { type Conversation, type Exchange, spokenBy, testedAgents, writeCassette } from "../../support/agents.ts";
import { bridgeAddress } from "../../support/docker.ts";
import { oracle, recordsOf, runner, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, standIn, writeStudy } from "../../support/e2e-study.ts";

const TASK = "e2e-agent-faults";
const ANSWER = "echo 42 > /app/answer.txt";
const usage = { input: 100, output: 10 };
const shell = (command: string) => ({ name: "shell", arguments: { command } });
const add = (a: number, b: number) => ({ name: "calc.add", arguments: { a, b } });

/** The same reply to the first few turns: some agents ask again after a refusal, a cut or an empty answer. */
const again = (reply: Exchange["reply"]): Exchange[] =>
  [1, 1, 1, 2, 2, 2, 3, 3, 4, 4].map((turn) => ({ match: { turn }, reply: { usage, ...reply } }));
const turns = (...replies: readonly NonNullable<Exchange["reply"]>[]): Exchange[] =>
  replies.map((reply, index) => ({ match: { turn: index + 1 }, reply: { usage, ...reply } }));
/** An answer of this status to every request of one turn, however often the agent asks again. */
const status = (code: number, turn = 1): Exchange[] =>
  Array.from({ length: 5 }, () => ({
    match: { turn },
    response: { status: code, json: { type: "error", error: { type: "test", message: `status ${code}` } } },
  }));

/** What happens in each repetition of the control, and how its record says so. */
const CONTROL: readonly (readonly [string, Exchange[], (record: TrialRecord) => unknown, unknown])[] = [
  ["a good end", turns({ toolCalls: [shell(ANSWER)] }, { text: "Done." }), end, ["scored", "self", null, 1]],
  [
    "a time limit",
    // Some agents look after a command that takes long, and ask the model again.
    turns(...Array.from({ length: 5 }, () => ({ toolCalls: [shell(`${ANSWER}; sleep 300`)] }))),
    end,
    ["scored", "timeout", "the study's limit of 40 s", 1],
  ],
  [
    "a budget of requests",
    turns(...Array.from({ length: 8 }, () => ({ toolCalls: [shell(ANSWER)] }))),
    end,
    ["scored", "budget", "modelRequests: 5 used of 5", 1],
  ],
  [
    "a budget of tokens",
    turns({ toolCalls: [shell(ANSWER)], usage: { input: 999_999, output: 9 } }, { text: "Done." }),
    end,
    ["scored", "budget", expect.stringMatching(/^tokens: /), 1],
  ],
  [
    "a budget of cost",
    turns({ toolCalls: [shell(ANSWER)], usage: { input: 100, output: 300_000 } }, { text: "Done." }),
    end,
    ["scored", "budget", expect.stringMatching(/^costMicroUsd: [0-9]+ used of 2000000$/), 1],
  ],
  ["a rate limit", status(429), cause, ["provider_error", "PROVIDER_STATUS", "429"]],
  ["a refused key", status(401), cause, ["provider_error", "PROVIDER_STATUS", "401"]],
  ["a failing provider", status(500), cause, ["provider_error", "PROVIDER_STATUS", "500"]],
  ["a model that the provider does not have", status(404), cause, ["provider_error", "PROVIDER_STATUS", "404"]],
  ["a parameter that the provider refuses", status(400), cause, ["provider_error", "PROVIDER_REFUSED", "400"]],
  [
    "a request that is refused after an answer",
    [...turns({ toolCalls: [shell(ANSWER)] }), ...status(400, 2)],
    ({ outcome, steps, reward }) => [outcome, steps.at(-1)?.agentEnd?.by, reward],
    ["scored", "crash", 1],
  ],
  ["a refusal", again({ refusal: "I will not." }), end, ["scored", "self", "the model declined", 0]],
  ["an empty answer", again({ text: "" }), end, ["scored", "self", "the model's answer was empty", 0]],
  [
    "a cut answer",
    again({ text: "The answer is", finish: "length" }),
    end,
    ["scored", "self", "the model's answer reached its length limit", 0],
  ],
];

/** A micro-dollar for a token of input, ten for one of output: what the other ways to end use is far below the budget. */
const PRICES = { input: 1_000_000, cachedInput: 1_000_000, output: 10_000_000 };
const COST_MICRO_USD = 2_000_000;

const TREATMENT: readonly (readonly [string, Exchange[], (record: TrialRecord) => unknown, unknown])[] = [
  [
    "calls of the server",
    turns({ toolCalls: [add(40, 2)] }, { toolCalls: [shell(ANSWER)] }, { text: "Done." }),
    end,
    ["scored", "self", null, 1],
  ],
  [
    "a budget of tool calls",
    turns({ toolCalls: [add(1, 1)] }, { toolCalls: [add(1, 2)] }, { toolCalls: [add(1, 3)] }, { text: "Done." }),
    end,
    ["scored", "budget", "toolCalls: 2 used of 2", 0],
  ],
  [
    "a server that dies",
    turns({ toolCalls: [add(666, 1)] }, { text: "Done." }, { text: "Done." }),
    (record) => [record.outcome, record.cause?.code],
    ["invalid_condition", "MCP_SERVER_DIED"],
  ],
];

function end({ outcome, steps, reward }: TrialRecord): unknown[] {
  const last = steps.at(-1)?.agentEnd;
  return [outcome, last?.by, last?.detail, reward];
}

function cause({ outcome, cause: why }: TrialRecord): unknown[] {
  return [outcome, why?.code, /status (\d+)\)$/.exec(why?.detail ?? "")?.[1]];
}

let dir: string;
let remove: () => Promise<void>;
let dataset: string;
let bridge: string;

/** A server on every address of the host that takes connections and says nothing. */
async function startSilence(): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined).resume();
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

beforeAll(async () => {
  bridge = await bridgeAddress();
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK);
  const proven = await oracle(dataset, join(dir, "oracle"));
  expect(proven.code, proven.stderr).toBe(0);
});
afterAll(() => remove());

describe.each(testedAgents(["codex"]).map((agent) => [agent.name, agent] as const))("%s", (name, agent) => {
  const [api = "chat"] = agent.apis;

  /** Runs one repetition for each list of exchanges, and gives their records. */
  async function runOver(
    folder: string,
    condition: "control" | "treatment",
    cases: readonly (readonly Exchange[])[],
    options: { readonly command?: readonly string[]; readonly budgets?: object; readonly model?: object } = {},
  ): Promise<{ readonly bundle: string; readonly anchor: string; readonly records: readonly TrialRecord[] }> {
    const home = join(dir, name, folder);
    const conversations = cases.map(
      (exchanges, index): Conversation => ({
        scope: { task: TASK, condition: "any", repetition: index + 1 },
        exchanges: [...exchanges],
      }),
    );
    const study = await writeStudy(home, {
      dataset,
      tasks: [TASK],
      agent: { name },
      model: options.model ?? { id: "scripted", api, replay: "spoken" },
      budgets: { agentSeconds: 40, modelRequests: 5, tokens: 1_000_000, toolCalls: 2, ...options.budgets },
      ...(options.command === undefined ? {} : { command: options.command }),
    });
    // A live model has no conversation of its own.
    const spoken = conversations.filter(({ exchanges }) => exchanges.length > 0);
    if (spoken.length > 0) await writeCassette(join(home, "spoken"), spokenBy(agent, spoken));
    const { stderr, result } = await execute(study, condition, join(home, "run"), {
      args: ["--repetitions", String(cases.length)],
      env: { E2E_KEY: "sk-none-of-this-is-real" },
    });
    const [run] = result.runs;
    if (run === undefined) throw new Error(stderr);
    const records = [...(await recordsOf(run.dir))].sort((a, b) => a.repetition - b.repetition);
    return { bundle: run.dir, anchor: run.report_sha256, records };
  }

  test("each way to end has its own cause, and the bundle verifies", async () => {
    const { bundle, anchor, records } = await runOver(
      "control",
      "control",
      CONTROL.map(([, exchanges]) => exchanges),
      {
        budgets: { costMicroUsd: COST_MICRO_USD },
        model: { id: "scripted", api, replay: "spoken", pricesMicroUsdPerMTok: PRICES },
      },
    );
    const seen = records.map((record, index) => [CONTROL[index]?.[0], CONTROL[index]?.[2](record)]);
    expect(seen).toEqual(CONTROL.map(([title, , , expected]) => [title, expected]));
    const verified = await runner(["verify", bundle, "--report-sha256", anchor]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });

  test("calls reach the server, a budget of calls stops them, and a server that dies is named", async () => {
    const { bundle, anchor, records } = await runOver(
      "treatment",
      "treatment",
      TREATMENT.map(([, exchanges]) => exchanges),
      { command: standIn("if (message.params?.arguments?.a === 666) process.exit(3);") },
    );
    const seen = records.map((record, index) => [TREATMENT[index]?.[0], TREATMENT[index]?.[2](record)]);
    expect(seen).toEqual(TREATMENT.map(([title, , , expected]) => [title, expected]));
    const verified = await runner(["verify", bundle, "--report-sha256", anchor]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });

  test("a server that the agent never reaches is named, whatever the agent makes of it", async () => {
    // Each preflight has its answers; whoever else comes, the agent, has none.
    const closed =
      'const { name } = message.params?.clientInfo ?? {}; globalThis.agent ||= name !== undefined && name !== "jacobian-runner-preflight"; if (globalThis.agent) { response.writeHead(503).end(); return true; }';
    const { records } = await runOver("unreached", "treatment", [again({ text: "Done." })], {
      command: standIn(closed),
    });
    expect(records.map(({ outcome, cause: why }) => [outcome, why?.code])).toEqual([
      ["invalid_condition", "MCP_NOT_REACHED"],
    ]);
  });

  test("a provider that takes requests and never answers is named", async () => {
    await using provider = await startSilence();
    const model = { id: "m", api, baseUrl: `http://${bridge}:${provider.port}/v1`, apiKeyEnv: "E2E_KEY" };
    const { bundle, anchor, records } = await runOver("silent", "control", [[]], { model });
    expect(records.map(({ outcome, cause: why, steps }) => [outcome, why?.code, steps.at(-1)?.agentEnd?.by])).toEqual([
      ["provider_error", "PROVIDER_SILENT", "timeout"],
    ]);
    const verified = await runner(["verify", bundle, "--report-sha256", anchor]);
    expect(verified.code, verified.stdout + verified.stderr).toBe(0);
  });

  test("a provider that cannot be reached is named", async () => {
    const model = { id: "m", api, baseUrl: "http://127.0.0.1:9/v1", apiKeyEnv: "E2E_KEY" };
    const { records } = await runOver("unreachable", "control", [[]], { model });
    expect(records.map(({ outcome, cause: why }) => [outcome, why?.code])).toEqual([
      ["provider_error", "PROVIDER_UNREACHABLE"],
    ]);
  });
});
