import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { GatewayConfigInput } from "../../../runner/base/formats/gateway-config.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const KEY = "sk-secret-0123456789abcdef";
const JSON_TYPE = { "content-type": "application/json" };

function modelConfig(
  baseUrl: string,
  changes: Partial<GatewayConfigInput> = {},
  model: object = {},
): GatewayConfigInput {
  return testConfig({ model: { id: "model-1", baseUrl, apiKey: KEY, ...model }, ...changes });
}

function chat(more: object = {}): string {
  return JSON.stringify({ model: "model-1", messages: [{ role: "user", content: "hi" }], max_tokens: 100, ...more });
}

function post(url: string, path: string, body: string, headers: object = {}): Promise<Response> {
  return fetch(`${url}${path}`, { method: "POST", headers: { ...JSON_TYPE, ...headers }, body });
}

test("a chat request goes out byte for byte with the study's key instead of the agent's, and its usage is summed", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(
      response,
      200,
      chatAnswer("hello", {
        prompt_tokens: 100,
        completion_tokens: 20,
        prompt_tokens_details: { cached_tokens: 60 },
        completion_tokens_details: { reasoning_tokens: 7 },
      }),
    ),
  );
  const prices = { input: 1_000_000, cachedInput: 100_000, output: 10_000_000 };
  await using gateway = await startGateway(modelConfig(provider.baseUrl, {}, { pricesMicroUsdPerMTok: prices }));
  const body = ` {"model":"model-1", "messages":[{"role":"user","content":"é 9007199254740993"}],"max_tokens":9}`;
  const answer = await post(gateway.url, "/v1/chat/completions", body, { authorization: "Bearer agents-own-key" });
  expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "hello" } }] });
  expect(provider.seen[0]?.body.toString()).toBe(body);
  expect(provider.seen[0]?.headers.authorization).toBe(`Bearer ${KEY}`);
  const finished = await gateway.finish();
  expect(finished.of("model-request")).toMatchObject([{ exchange: "x1", api: "chat", stream: false, amended: null }]);
  expect(finished.of("model-response")).toMatchObject([
    {
      source: "live",
      status: 200,
      ended: "complete",
      observedModel: "model-1",
      usage: { input: 100, cachedInput: 60, cacheWriteInput: 0, output: 20, reasoning: 7 },
      costMicroUsd: 40 + 6 + 200,
    },
  ]);
  expect(gateway.notices[0]).toMatchObject({ notice: "agent-request", api: "chat" });
});

test("the Messages key goes into x-api-key with a version, and the beta query passes", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(response, 200, {
      type: "message",
      model: "model-1",
      content: [],
      usage: { input_tokens: 3, output_tokens: 4 },
    }),
  );
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const body = JSON.stringify({ model: "model-1", max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
  await post(gateway.url, "/v1/messages?beta=true", body, { "x-api-key": "agents" });
  expect(provider.seen[0]?.url).toBe("/v1/messages?beta=true");
  expect(provider.seen[0]?.headers).toMatchObject({ "x-api-key": KEY, "anthropic-version": "2023-06-01" });
  expect(provider.seen[0]?.headers.authorization).toBeUndefined();
});

const CHAT_STREAM = [
  'data: {"model":"model-1","choices":[{"index":0,"delta":{"role":"assistant","content":"hé"}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"{\\"a\\""}}]}}]}\n\n',
  'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]},"finish_reason":"tool_calls"}]}\n\n',
  'data: {"choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7}}\n\ndata: [DONE]\n\n',
].join("");
const RESPONSES_STREAM = [
  'event: response.created\ndata: {"type":"response.created","response":{"id":"r","status":"in_progress"}}\n\n',
  'event: response.output_item.done\ndata: {"type":"response.output_item.done","item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}\n\n',
  'event: response.completed\ndata: {"type":"response.completed","response":{"id":"r","status":"completed","model":"model-1","output":[],"usage":{"input_tokens":11,"input_tokens_details":{"cached_tokens":2},"output_tokens":7,"output_tokens_details":{"reasoning_tokens":1}}}}\n\n',
].join("");
const MESSAGES_STREAM = [
  'event: message_start\ndata: {"type":"message_start","message":{"model":"model-1","usage":{"input_tokens":8,"cache_creation_input_tokens":1,"cache_read_input_tokens":2,"output_tokens":1}}}\n\n',
  'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}\n\n',
  'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\\"a\\":1}"}}\n\n',
  'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}\n\n',
  'event: message_stop\ndata: {"type":"message_stop"}\n\n',
].join("");

test.each([
  ["/v1/chat/completions", CHAT_STREAM, { input: 11, output: 7 }],
  ["/v1/responses", RESPONSES_STREAM, { input: 11, cachedInput: 2, output: 7, reasoning: 1 }],
  ["/v1/messages", MESSAGES_STREAM, { input: 11, cachedInput: 2, cacheWriteInput: 1, output: 7 }],
])("a stream of %s passes as it comes, and its usage is read once", async (path, stream, usage) => {
  await using provider = await startModelProvider(async (_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const bytes = Buffer.from(stream);
    for (let at = 0; at < bytes.length; at += 7) {
      response.write(bytes.subarray(at, at + 7));
      if (at % 70 === 0) await delay(1);
    }
    response.end();
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const answer = await post(gateway.url, path, JSON.stringify({ model: "model-1", stream: true, stream_options: {} }));
  expect(await answer.text()).toBe(stream);
  const finished = await gateway.finish();
  expect(finished.of("model-response")).toMatchObject([
    { stream: true, ended: "complete", observedModel: "model-1", usage },
  ]);
});

test("a chat stream that does not ask for its usage is made to, at the front of the same bytes, and that is recorded", async () => {
  await using provider = await startModelProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" }).end(CHAT_STREAM);
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const body = '{"model":"model-1","stream":true,"messages":[]}';
  await (await post(gateway.url, "/v1/chat/completions", body)).text();
  expect(provider.seen[0]?.body.toString()).toBe(
    '{"stream_options":{"include_usage":true},"model":"model-1","stream":true,"messages":[]}',
  );
  const finished = await gateway.finish();
  expect(finished.of("model-request")).toMatchObject([
    { amended: "stream_options.include_usage", body: { text: body } },
  ]);
});

test("a stream that breaks off is a provider error with unknown usage, and breaks off for the agent", async () => {
  await using provider = await startModelProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(MESSAGES_STREAM.slice(0, 200));
    setTimeout(() => response.destroy(), 30);
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const answer = await post(
    gateway.url,
    "/v1/messages",
    JSON.stringify({ model: "model-1", stream: true, max_tokens: 1 }),
  );
  await expect(answer.text()).rejects.toThrow();
  const finished = await gateway.finish();
  expect(finished.of("provider-error")).toMatchObject([{ cause: "broken-stream", status: 200 }]);
  expect(finished.of("model-response")[0]?.usage.output).toMatchObject({ unknown: "missing" });
});

const refused: readonly [string, string, object, string][] = [
  ["another model", "/v1/chat/completions", { model: "model-2" }, "wrong-model"],
  ["a web search option", "/v1/chat/completions", { web_search_options: {} }, "hosted-feature"],
  ["a plugin of a router", "/v1/chat/completions", { plugins: [{ id: "web" }] }, "hosted-feature"],
  ["a live search", "/v1/chat/completions", { search_parameters: { mode: "on" } }, "hosted-feature"],
  ["a tool that is no function", "/v1/chat/completions", { tools: [{ type: "web_search" }] }, "hosted-tool"],
  ["several answers", "/v1/chat/completions", { n: 2 }, "several-answers"],
  [
    "a picture by address",
    "/v1/chat/completions",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://x.test/a.png" } }] }] },
    "remote-content",
  ],
  ["hosted web search", "/v1/responses", { tools: [{ type: "web_search_preview" }] }, "hosted-tool"],
  ["hosted file search", "/v1/responses", { tools: [{ type: "file_search", vector_store_ids: [] }] }, "hosted-tool"],
  [
    "a hosted code interpreter",
    "/v1/responses",
    { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    "hosted-tool",
  ],
  ["computer use", "/v1/responses", { tools: [{ type: "computer_use_preview" }] }, "hosted-tool"],
  [
    "a hosted MCP connector",
    "/v1/responses",
    { tools: [{ type: "mcp", server_url: "https://x.test" }] },
    "hosted-tool",
  ],
  [
    "a hosted tool inside the conversation",
    "/v1/responses",
    { input: [{ type: "additional_tools", tools: [{ type: "image_generation" }] }] },
    "hosted-tool",
  ],
  [
    "a hosted tool inside a namespace",
    "/v1/responses",
    { tools: [{ type: "namespace", name: "n", tools: [{ type: "web_search" }] }] },
    "hosted-tool",
  ],
  [
    "a hosted shell",
    "/v1/responses",
    { tools: [{ type: "shell", environment: { type: "container_auto" } }] },
    "hosted-tool",
  ],
  ["an answer of another conversation", "/v1/responses", { previous_response_id: "resp_1" }, "hosted-feature"],
  ["a stored prompt", "/v1/responses", { prompt: { id: "pmpt_1" } }, "hosted-feature"],
  [
    "a file of the provider's store",
    "/v1/responses",
    { input: [{ role: "user", content: [{ type: "input_file", file_id: "f" }] }] },
    "remote-content",
  ],
  [
    "server-side web search",
    "/v1/messages",
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    "hosted-tool",
  ],
  [
    "server-side web fetch",
    "/v1/messages",
    { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] },
    "hosted-tool",
  ],
  [
    "server-side code",
    "/v1/messages",
    { tools: [{ type: "code_execution_20250825", name: "code_execution" }] },
    "hosted-tool",
  ],
  [
    "computer use of Messages",
    "/v1/messages",
    { tools: [{ type: "computer_20250124", name: "computer" }] },
    "hosted-tool",
  ],
  [
    "the MCP connector",
    "/v1/messages",
    { mcp_servers: [{ type: "url", url: "https://x.test", name: "x" }] },
    "hosted-feature",
  ],
  ["a container", "/v1/messages", { container: { skills: [] } }, "hosted-feature"],
  [
    "a document by address",
    "/v1/messages",
    {
      messages: [
        { role: "user", content: [{ type: "document", source: { type: "url", url: "https://x.test/a.pdf" } }] },
      ],
    },
    "remote-content",
  ],
];

test.each(refused)("%s is refused in the API's own error shape and recorded", async (_title, path, more, reason) => {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, {}));
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const answer = await post(gateway.url, path, JSON.stringify({ model: "model-1", max_tokens: 1, ...more }));
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.status).toBeLessThan(500);
  const error =
    path === "/v1/messages" ? { type: "error", error: { type: expect.any(String) } } : { error: { code: reason } };
  expect(await answer.json()).toMatchObject(error);
  expect(provider.seen).toHaveLength(0);
  const finished = await gateway.finish();
  expect(finished.of("model-refused")).toMatchObject([{ reason }]);
});

test("tools that the agent carries out itself go through", async () => {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, {}));
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } };
  const requests: [string, object][] = [
    [
      "/v1/chat/completions",
      {
        tools: [{ type: "function", function: { name: "f" } }],
        n: 1,
        messages: [{ role: "user", content: [picture] }],
      },
    ],
    [
      "/v1/responses",
      {
        tools: [
          { type: "namespace", name: "mcp__s", tools: [{ type: "function", name: "g" }] },
          { type: "local_shell" },
          { type: "custom", name: "h" },
        ],
        background: false,
      },
    ],
    [
      "/v1/messages",
      {
        tools: [
          { name: "f", input_schema: {} },
          { type: "bash_20250124", name: "bash" },
        ],
        max_tokens: 1,
      },
    ],
  ];
  for (const [path, more] of requests) {
    expect((await post(gateway.url, path, JSON.stringify({ model: "model-1", ...more }))).status).toBe(200);
  }
  const finished = await gateway.finish();
  expect(finished.of("tools-offered").map(({ names }) => names)).toEqual([
    ["f"],
    ["mcp__s__g", "local_shell", "h"],
    ["f", "bash"],
  ]);
});

test("other paths, methods and malformed bodies are refused and recorded", async () => {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, {}));
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  expect((await post(gateway.url, "/v1/files", "{}")).status).toBe(404);
  expect((await post(gateway.url, "/v1/messages/count_tokens", "{}")).status).toBe(404);
  expect((await fetch(`${gateway.url}/v1/chat/completions`)).status).toBe(405);
  expect((await post(gateway.url, "/v1/chat/completions", '{"model":"model-2","model":"model-1"}')).status).toBe(400);
  expect((await post(gateway.url, "/v1/chat/completions", "[]")).status).toBe(400);
  const models = await (await fetch(`${gateway.url}/v1/models`)).json();
  expect(models).toMatchObject({ data: [{ id: "model-1" }] });
  expect(provider.seen).toHaveLength(0);
  const finished = await gateway.finish();
  expect(finished.of("request-refused").map(({ path }) => path)).toEqual(["/v1/files", "/v1/messages/count_tokens"]);
  expect(finished.of("model-refused").map(({ reason }) => reason)).toEqual(["method", "malformed", "malformed"]);
  expect(finished.of("local-answer")).toHaveLength(1);
});

test.each([401, 429, 500, 529])(
  "an answer of %i is the provider's failure, told with its retry-after and not tried again",
  async (status) => {
    await using provider = await startModelProvider((_request, response) => {
      response.setHeader("retry-after", "7");
      sendJson(response, status, { error: { message: `key ${KEY} is wrong`, type: "x" } });
    });
    await using gateway = await startGateway(modelConfig(provider.baseUrl));
    const answer = await post(gateway.url, "/v1/chat/completions", chat());
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toContain(KEY);
    expect(provider.seen).toHaveLength(1);
    expect(gateway.notices).toContainEqual(
      expect.objectContaining({ notice: "provider-error", cause: "status", status, retryAfter: "7" }),
    );
    expect(JSON.stringify(gateway.notices)).not.toContain(KEY);
    const finished = await gateway.finish();
    expect((await finished.allBytes()).includes(KEY)).toBe(false);
  },
);

test("an answer of 400 is the agent's doing and passes as it is", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(response, 400, { error: { message: "context length exceeded" } }),
  );
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  expect((await post(gateway.url, "/v1/chat/completions", chat())).status).toBe(400);
  const finished = await gateway.finish();
  expect(finished.of("provider-error")).toEqual([]);
  expect(finished.of("model-response")).toMatchObject([{ status: 400, usage: { input: 0, output: 0 } }]);
});

test("a provider that cannot be reached is a provider error", async () => {
  await using gateway = await startGateway(modelConfig("http://127.0.0.1:9/v1"));
  const answer = await post(gateway.url, "/v1/responses", JSON.stringify({ model: "model-1" }));
  expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: "provider_error" } }]);
  expect(gateway.notices.at(-1)).toMatchObject({ notice: "provider-error", cause: "unreachable", status: null });
});

test("a service error inside a stream that began well is the provider's failure", async () => {
  await using provider = await startModelProvider((_request, response) => {
    const event = 'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"busy"}}\n\n';
    response.writeHead(200, { "content-type": "text/event-stream" }).end(event);
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  await (
    await post(gateway.url, "/v1/messages", JSON.stringify({ model: "model-1", stream: true, max_tokens: 1 }))
  ).text();
  expect(gateway.notices.at(-1)).toMatchObject({
    notice: "provider-error",
    cause: "broken-stream",
    detail: "overloaded_error: busy",
  });
});

test("the provider's key is in no byte of the evidence, also when it comes back split over chunks and inside large bodies", async () => {
  await using provider = await startModelProvider(async (_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.write(`{"pad":"${"p".repeat(20_000)}","echo":"${KEY.slice(0, 9)}`);
    await delay(20);
    response.end(`${KEY.slice(9)} and ${KEY}"}`);
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const answer = await post(gateway.url, "/v1/chat/completions", chat({ user: KEY, pad: "x".repeat(9000) }));
  expect(await answer.text()).toContain('"echo":"[redacted] and [redacted]"');
  const finished = await gateway.finish();
  const bytes = await finished.allBytes();
  expect(bytes.includes(KEY)).toBe(false);
  expect(bytes.length).toBeGreaterThan(29_000);
  expect(finished.of("model-request")[0]?.body).toMatchObject({ object: true, redacted: 1 });
});

test("an agent that goes away cancels its model request", async () => {
  let aborted = false;
  await using provider = await startModelProvider((_request, response) => {
    response.once("close", () => {
      aborted = true;
    });
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const abort = new AbortController();
  const pending = fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body: chat(), signal: abort.signal });
  while (provider.seen.length === 0) await delay(5);
  abort.abort();
  await expect(pending).rejects.toThrow();
  while (!aborted) await delay(5);
  const finished = await gateway.finish();
  expect(finished.of("model-response")).toMatchObject([
    { status: null, ended: "agent-gone", usage: { input: { unknown: "truncated" } } },
  ]);
  expect(finished.of("provider-error")).toEqual([]);
});

test("what is in flight when the agent ends is cut, and its record says so", async () => {
  await using provider = await startModelProvider((_request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("data: {}\n\n");
  });
  await using gateway = await startGateway(modelConfig(provider.baseUrl));
  const answer = await post(gateway.url, "/v1/chat/completions", chat({ stream: true }));
  const broken = expect(answer.text()).rejects.toThrow();
  await delay(30);
  await gateway.gateway.agentEnded();
  await broken;
  const finished = await gateway.finish();
  expect(finished.trace.complete).toBe(true);
  expect(finished.of("model-response")).toMatchObject([{ ended: "cut" }]);
});

test("in the treatment a request that lacks the server's tools is refused before the provider sees it", async () => {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, chatAnswer("x")));
  const tools = { naming: { prefix: "", sanitise: true, own: ["shell"] }, serverTools: ["math.find", "math.run"] };
  const offer = (...names: string[]) =>
    chat({ tools: names.map((name) => ({ type: "function", function: { name } })) });
  await using gateway = await startGateway(modelConfig(provider.baseUrl, { tools }));
  const statuses: number[] = [];
  for (const names of [["shell", "math_find", "math_run"], [], ["shell"]]) {
    statuses.push((await post(gateway.url, "/v1/chat/completions", offer(...names))).status);
  }
  expect(statuses).toEqual([200, 200, 403]);
  expect(provider.seen).toHaveLength(2);
  expect(gateway.notices.at(-1)).toEqual({
    notice: "condition-violation",
    kind: "tools",
    detail: "the server's tool math_find was not offered; the server's tool math_run was not offered",
  });
});
