import { expect, test } from "vitest";
import type { CassetteInput } from "../../../runner/base/formats/cassette.ts";
import type { GatewayConfigInput } from "../../../runner/base/formats/gateway-config.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const NAMING = { prefix: "", sanitise: true, own: ["shell"] };

function replayConfig(changes: Partial<GatewayConfigInput> = {}): GatewayConfigInput {
  return testConfig({
    model: { id: "model-1", baseUrl: null },
    replay: true,
    tools: { naming: NAMING, serverTools: ["math.find", "math.run"] },
    ...changes,
  });
}

const CHAT_TOOLS = ["shell", "math_find", "math_run"].map((name) => ({ type: "function", function: { name } }));
const USER = { role: "user", content: "Find the invariant factors." };

const SCRIPTED: CassetteInput = {
  schemaVersion: "1",
  modelSource: "scripted",
  normalizers: { replace: [{ pattern: '"runtime_ms": [0-9.]+', with: '"runtime_ms": 0' }] },
  conversations: [
    {
      scope: { task: "task-1", condition: "treatment" },
      exchanges: [
        {
          match: { turn: 1, expect: [{ on: "instruction", contains: "invariant factors" }] },
          reply: {
            toolCalls: [{ name: "math.run", arguments: { operation_id: "matrix.normal_form.smith.compute" } }],
            usage: { input: 100, cachedInput: 40, output: 20, reasoning: 5 },
          },
        },
        {
          match: {
            turn: 2,
            expect: [{ at: "/output/invariant_factors", equals: ["2", "4"] }, { matches: '"runtime_ms": 0,' }],
          },
          reply: { text: "The invariant factors are 2 and 4.", usage: { input: 150, output: 10 } },
        },
      ],
    },
  ],
};

const RESULT = '{\n  "runtime_ms": 17,\n  "output": {"invariant_factors": ["2", "4"]}\n}';

async function post(url: string, path: string, body: object): Promise<Response> {
  return await fetch(`${url}${path}`, { method: "POST", body: JSON.stringify({ model: "model-1", ...body }) });
}

function secondChat(result: string): object {
  const call = { id: "call_1_1", type: "function", function: { name: "math_run", arguments: "{}" } };
  return {
    tools: CHAT_TOOLS,
    messages: [
      { role: "system", content: "s" },
      USER,
      { role: "assistant", content: null, tool_calls: [call] },
      { role: "tool", tool_call_id: "call_1_1", content: result },
    ],
  };
}

test("a hand-written conversation is served by turn, and by the real tool results that it expects", async () => {
  await using gateway = await startGateway(replayConfig(), { cassette: SCRIPTED });
  const first = await post(gateway.url, "/v1/chat/completions", { tools: CHAT_TOOLS, messages: [USER] });
  expect(await first.json()).toEqual({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 0,
    model: "model-1",
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: null,
          refusal: null,
          tool_calls: [
            {
              id: "call_1_1",
              type: "function",
              function: { name: "math_run", arguments: '{"operation_id":"matrix.normal_form.smith.compute"}' },
            },
          ],
        },
      },
    ],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 20,
      total_tokens: 120,
      prompt_tokens_details: { cached_tokens: 40 },
      completion_tokens_details: { reasoning_tokens: 5 },
    },
  });
  const second = await post(gateway.url, "/v1/chat/completions", secondChat(RESULT));
  expect(await second.json()).toMatchObject({
    choices: [{ message: { content: "The invariant factors are 2 and 4." } }],
  });
  const finished = await gateway.finish();
  expect(finished.of("model-response")).toMatchObject([
    { source: "scripted", usage: { input: 100, cachedInput: 40, output: 20, reasoning: 5 }, costMicroUsd: 0 },
    { source: "scripted", usage: { input: 150, output: 10 }, costMicroUsd: 0 },
  ]);
  expect(gateway.notices.at(-1)).toMatchObject({ notice: "finished", cassette: { served: 2, unserved: 0 } });
});

test("another tool result than the cassette expects ends the replay, and says which value was seen", async () => {
  await using gateway = await startGateway(replayConfig(), { cassette: SCRIPTED });
  const answer = await post(gateway.url, "/v1/chat/completions", secondChat(RESULT.replace('"4"', '"8"')));
  expect(answer.status).toBe(502);
  const notice = gateway.notices.find(({ notice }) => notice === "provider-error");
  expect(notice).toMatchObject({ cause: "cassette-miss" });
  expect(notice?.notice === "provider-error" && notice.detail).toMatch(
    /^no exchange of the cassette fits the request sha256:[0-9a-f]{64} \(turn 2\); nearest is exchange 2 of 2: tool result -1 at \/output\/invariant_factors: expected \["2","4"\], got \["2","8"\]$/,
  );
  const finished = await gateway.finish();
  expect(finished.of("provider-error")).toMatchObject([{ requestDigest: expect.stringMatching(/^sha256:/) }]);
});

test("an exchange is served once; the same request again is a miss", async () => {
  await using gateway = await startGateway(replayConfig(), { cassette: SCRIPTED });
  const statuses: number[] = [];
  for (let turn = 0; turn < 2; turn += 1) {
    const answer = await post(gateway.url, "/v1/chat/completions", { tools: CHAT_TOOLS, messages: [USER] });
    statuses.push(answer.status);
    await answer.text();
  }
  expect(statuses).toEqual([200, 502]);
});

test("equal keys are served in the order of the file", async () => {
  const exchange = (text: string) => ({ match: { turn: 1 }, reply: { text } });
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      { scope: { task: "task-1", condition: "any" }, exchanges: [exchange("first"), exchange("second")] },
    ],
  };
  await using gateway = await startGateway(replayConfig(), { cassette });
  const texts: string[] = [];
  for (let time = 0; time < 2; time += 1) {
    const answer = await post(gateway.url, "/v1/chat/completions", { messages: [USER] });
    texts.push(
      ((await answer.json()) as { choices: { message: { content: string } }[] }).choices[0]?.message.content ?? "",
    );
  }
  expect(texts).toEqual(["first", "second"]);
});

test("a side request without tools has an exchange of its own, whatever its order", async () => {
  const cassette: CassetteInput = {
    ...SCRIPTED,
    conversations: [
      {
        scope: { task: "task-1", condition: "treatment" },
        exchanges: [
          { match: { turn: 1, tools: true }, reply: { text: "main" } },
          { match: { turn: 1, tools: false }, reply: { text: "a title" } },
        ],
      },
    ],
  };
  await using gateway = await startGateway(replayConfig(), { cassette });
  const title = await (await post(gateway.url, "/v1/chat/completions", { messages: [USER] })).text();
  const main = await (await post(gateway.url, "/v1/chat/completions", { messages: [USER], tools: CHAT_TOOLS })).text();
  expect([title.includes("a title"), main.includes("main")]).toEqual([true, true]);
});

test("the conversation with the most specific scope is taken", async () => {
  const conversation = (scope: CassetteInput["conversations"][number]["scope"], text: string) => ({
    scope,
    exchanges: [{ match: { turn: 1 }, reply: { text } }],
  });
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      conversation({ task: "task-1", condition: "any" }, "any"),
      conversation({ task: "task-1", condition: "treatment", repetition: 2 }, "second repetition"),
      conversation({ task: "task-1", condition: "treatment" }, "treatment"),
    ],
  };
  const scope = { task: "task-1", condition: "treatment", repetition: 2 } as const;
  await using gateway = await startGateway(replayConfig({ scope }), { cassette });
  expect(await (await post(gateway.url, "/v1/chat/completions", { messages: [USER] })).text()).toContain(
    "second repetition",
  );
});

test.each([
  ["/v1/chat/completions", false],
  ["/v1/chat/completions", true],
  ["/v1/responses", false],
  ["/v1/responses", true],
  ["/v1/messages", false],
  ["/v1/messages", true],
])("a reply in words is rendered for %s (stream %s) with the same meaning", async (path, stream) => {
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      {
        scope: { task: "task-1", condition: "treatment" },
        exchanges: [
          {
            match: { turn: 1 },
            reply: {
              text: "Let me see.",
              toolCalls: [{ name: "math.run", arguments: { n: "9007199254740993" } }],
              usage: { input: 9, cachedInput: 4, output: 3 },
            },
          },
        ],
      },
    ],
  };
  await using gateway = await startGateway(replayConfig({ tools: null }), { cassette });
  const bodies: Record<string, object> = {
    "/v1/chat/completions": { messages: [USER], tools: [{ type: "function", function: { name: "math.run" } }] },
    "/v1/responses": { input: "Find.", tools: [{ type: "function", name: "math.run" }] },
    "/v1/messages": { messages: [USER], max_tokens: 9 },
  };
  const answer = await post(gateway.url, path, { ...bodies[path], stream, stream_options: {} });
  await answer.text();
  expect(answer.headers.get("content-type")?.startsWith(stream ? "text/event-stream" : "application/json")).toBe(true);
  const finished = await gateway.finish();
  expect(finished.of("model-response")).toMatchObject([
    { stream, observedModel: "model-1", usage: { input: 9, cachedInput: 4, output: 3 } },
  ]);
  const { reconstructConversation } = await import("../../../runner/trace/conversation.ts");
  const items = reconstructConversation(finished.trace.events, finished.readObject);
  expect(Array.isArray(items) && items.slice(-2)).toEqual([
    { kind: "text", role: "assistant", text: "Let me see." },
    { kind: "tool-call", id: "call_1_1", name: "math.run", arguments: '{"n":"9007199254740993"}' },
  ]);
});

test("a tool that stands in a Responses namespace is called by its name there", async () => {
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      {
        scope: { task: "task-1", condition: "treatment" },
        exchanges: [{ match: { turn: 1 }, reply: { toolCalls: [{ name: "math.run", arguments: {} }] } }],
      },
    ],
  };
  const tools = { naming: { prefix: "mcp__jacobian__", sanitise: true, own: null }, serverTools: ["math.run"] };
  await using gateway = await startGateway(replayConfig({ tools }), { cassette });
  const namespace = { type: "namespace", name: "mcp__jacobian", tools: [{ type: "function", name: "math_run" }] };
  const answer = await post(gateway.url, "/v1/responses", { input: "Find.", tools: [namespace] });
  expect(await answer.json()).toMatchObject({
    output: [{ type: "function_call", name: "math_run", namespace: "mcp__jacobian", arguments: "{}" }],
  });
});

test("a recorded conversation replays under its normalizers, and a changed request is a miss that names the place", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(response, 200, chatAnswer("live answer")),
  );
  const normalizers = { drop: ["/user"], replace: [{ pattern: '"runtime_ms": [0-9]+', with: '"runtime_ms": 0' }] };
  const live = testConfig({ model: { id: "model-1", baseUrl: provider.baseUrl }, record: { normalizers } });
  await using recording = await startGateway(live);
  await (await post(recording.url, "/v1/chat/completions", { ...secondChat(RESULT), user: "a" })).text();
  await recording.finish();
  const { readFile } = await import("node:fs/promises");
  const cassette = JSON.parse(await readFile(`${recording.folder}/cassette.json`, "utf8")) as CassetteInput;

  await using gateway = await startGateway(replayConfig({ tools: null }), { cassette });
  const changed = await post(gateway.url, "/v1/chat/completions", { ...secondChat("other"), user: "b" });
  expect(changed.status).toBe(502);
  expect(gateway.notices.at(-1)).toMatchObject({
    cause: "cassette-miss",
    detail: expect.stringContaining("nearest is exchange 1 of 1: at /messages/3/content: expected"),
  });
  const slower = secondChat(RESULT.replace("17", "9"));
  const answer = await post(gateway.url, "/v1/chat/completions", { ...slower, user: "b" });
  expect(await answer.json()).toEqual(chatAnswer("live answer"));
  const finished = await gateway.finish();
  expect(finished.of("model-response")).toMatchObject([{ source: "replayed", usage: { input: 10, output: 5 } }]);
});

test("a recorded usage counts towards the budgets", async () => {
  await using gateway = await startGateway(replayConfig({ budgets: { tokens: 40_000 } }), {
    cassette: {
      schemaVersion: "1",
      modelSource: "scripted",
      conversations: [
        {
          scope: { task: "task-1", condition: "treatment" },
          exchanges: [
            { match: { turn: 1 }, reply: { text: "x", usage: { input: 39_000, output: 900 } } },
            { match: { turn: 1 }, reply: { text: "y" } },
          ],
        },
      ],
    },
  });
  const ask = async () => {
    const answer = await post(gateway.url, "/v1/chat/completions", { messages: [USER], max_tokens: 100 });
    await answer.text();
    return answer.status;
  };
  expect([await ask(), await ask()]).toEqual([200, 429]);
});
