import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type ToolloopConfigInput, toolloopConfigSchema } from "../../../../runner/agent/toolloop/config.ts";
import { type LoopEvent, runLoop } from "../../../../runner/agent/toolloop/loop.ts";
import {
  type StandInOptions,
  sendEvent,
  sendResult,
  startMcpServer,
  toolResult,
} from "../../../support/mcp-servers.ts";
import { chatAnswer, type ModelHandler, sendJson, startModelProvider } from "../../../support/model-provider.ts";

let workdir = "";
beforeAll(async () => {
  workdir = await mkdtemp(join(tmpdir(), "toolloop-"));
});
afterAll(() => rm(workdir, { recursive: true, force: true }));

interface RequestBody {
  readonly messages: readonly {
    readonly role: string;
    readonly content: string | null;
    readonly tool_call_id?: string;
  }[];
  readonly tools: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[];
  readonly [key: string]: unknown;
}

/** Runs the loop against a provider that gives these answers in turn, or handles each request. */
async function run(
  answers: readonly object[] | ModelHandler,
  changes: Partial<ToolloopConfigInput> = {},
  mcp?: StandInOptions,
) {
  let turn = 0;
  await using provider = await startModelProvider((request, response) => {
    if (typeof answers === "function") return answers(request, response);
    sendJson(response, 200, answers[turn] ?? chatAnswer("no more answers"));
    turn += 1;
  });
  await using server = mcp === undefined ? null : await startMcpServer(mcp);
  const events: LoopEvent[] = [];
  const config = toolloopConfigSchema.parse({
    schemaVersion: "1",
    instruction: "Do it.",
    model: "model-1",
    baseUrl: provider.baseUrl,
    mcpUrl: server?.url ?? null,
    workdir,
    ...changes,
  });
  const reason = await runLoop(config, (event) => events.push(event));
  const requests = provider.seen.map(({ body }) => JSON.parse(body.toString()) as RequestBody);
  return { reason, events, requests, seen: server?.seen ?? [] };
}

function calls(...list: readonly [string, string][]): object {
  const toolCalls = list.map(([name, given], index) => ({
    id: `c${index}`,
    type: "function",
    function: { name, arguments: given },
  }));
  const message = { role: "assistant", content: null, tool_calls: toolCalls };
  return { model: "model-1", choices: [{ index: 0, message, finish_reason: "tool_calls" }] };
}

const finish = (message: object, reason: string) => ({ choices: [{ index: 0, message, finish_reason: reason }] });

test("without an MCP server the model has the shell alone, its results come back, and an answer ends the loop", async () => {
  const { reason, events, requests } = await run([
    calls(["shell", '{"command":"echo out; echo err >&2; exit 3"}']),
    chatAnswer("All done."),
  ]);
  expect(reason).toBe("finished");
  expect(requests[0]?.tools.map((tool) => tool.function.name)).toEqual(["shell"]);
  expect(requests[0]).toMatchObject({ model: "model-1", max_completion_tokens: 16_384 });
  expect(requests[1]?.messages.slice(2)).toEqual([
    {
      role: "assistant",
      content: null,
      tool_calls: [
        {
          id: "c0",
          type: "function",
          function: { name: "shell", arguments: '{"command":"echo out; echo err >&2; exit 3"}' },
        },
      ],
    },
    { role: "tool", tool_call_id: "c0", content: "[exit code 3]\nout\n\n[stderr]\nerr\n" },
  ]);
  expect(events.map(({ type }) => type)).toEqual(["start", "assistant", "tool-result", "assistant", "end"]);
  expect(events.at(-1)).toEqual({ type: "end", reason: "finished", detail: null });
});

test("the system message is the same with and without a server", async () => {
  const control = await run([chatAnswer("x")]);
  const treatment = await run([chatAnswer("x")], {}, {});
  expect(treatment.requests[0]?.messages).toEqual(control.requests[0]?.messages);
});

test("a server's tools are shown under acceptable names with their schemas untouched, and called by their own names", async () => {
  const { reason, requests, seen } = await run(
    [
      calls(["math_run", '{"operation_id":"a.b","payload":{"n":12345678901234567890}}'], ["math_find", ""]),
      chatAnswer("ok"),
    ],
    {},
    {
      on: {
        "tools/call": ({ id, params }, response) => sendResult(response, id, toolResult({ called: params?.name })),
      },
    },
  );
  expect(reason).toBe("finished");
  expect(requests[0]?.tools.map((tool) => tool.function)).toMatchObject([
    { name: "shell" },
    { name: "math_run", parameters: { type: "object", properties: { flag: { type: ["boolean", "null"] } } } },
    { name: "math_find" },
  ]);
  expect(requests[1]?.messages.slice(3).map(({ content }) => content)).toEqual([
    '{\n  "called": "math.run"\n}',
    '{\n  "called": "math.find"\n}',
  ]);
  const sent = seen.map(({ body }) => body.toString()).filter((body) => body.includes("tools/call"));
  expect(sent[0]).toContain('"payload":{"n":12345678901234567890}');
  expect(sent[0]).toContain('"progressToken"');
});

test("a schema with references does not stop the loop", async () => {
  const tool = { name: "t", inputSchema: { type: "object" }, outputSchema: { $ref: "#/$defs/R", $defs: { R: {} } } };
  expect((await run([chatAnswer("ok")], {}, { tools: [tool] })).reason).toBe("finished");
});

test("a JSON-RPC error and a tool error are results for the model", async () => {
  let count = 0;
  const { requests } = await run(
    [calls(["math_run", "{}"], ["math_run", "{}"]), chatAnswer("ok")],
    {},
    {
      on: {
        "tools/call": ({ id }, response) => {
          count += 1;
          if (count === 2) return sendResult(response, id, { content: [{ type: "text", text: "no" }], isError: true });
          sendEvent(response, { jsonrpc: "2.0", id, error: { code: -32602, message: "bad payload" } });
          response.end();
        },
      },
    },
  );
  expect(requests[1]?.messages.slice(3).map(({ content }) => content)).toEqual(["MCP error -32602: bad payload", "no"]);
});

test("calls that make no sense are answered, and the model may go on", async () => {
  const { reason, requests } = await run([
    calls(["shell", "{not json"], ["shell", "[]"], ["shell", '{"cmd":"x"}'], ["math_run", "{}"]),
    chatAnswer("ok"),
  ]);
  expect(reason).toBe("finished");
  expect(requests[1]?.messages.slice(3).map(({ content }) => content)).toEqual([
    'the arguments: line 1, column 2: expected a key in double quotes, got "n"',
    "the arguments are not a JSON object",
    'shell needs a text "command"',
    "there is no tool math_run",
  ]);
});

test.each([
  ["a server that is not there", "http://127.0.0.1:9/mcp", undefined],
  [
    "a server that fails tools/list",
    undefined,
    { on: { "tools/list": (_m: unknown, response: { destroy(): void }) => response.destroy() } },
  ],
  ["two tools of one name", undefined, { tools: [{ name: "a.b" }, { name: "a_b" }] }],
  [
    "a server without end",
    undefined,
    {
      on: {
        "tools/list": ({ id }: never, response: never) => sendResult(response, id, { tools: [], nextCursor: "x" }),
      },
    },
  ],
])("%s ends the loop before the model is asked", async (_title, mcpUrl, mcp) => {
  const { reason, events, requests } = await run(
    [chatAnswer("x")],
    mcpUrl === undefined ? {} : { mcpUrl },
    mcp as StandInOptions | undefined,
  );
  expect(reason).toBe("mcp");
  expect(requests).toHaveLength(0);
  expect(events).toMatchObject([{ type: "end", reason: "mcp", detail: expect.stringMatching(/cannot be used: ./) }]);
});

test.each([
  ["breaks off", (response: { destroy(): void }) => response.destroy()],
  ["ends its stream without an answer", (response: { end(): void }) => response.end()],
  [
    "answers 500",
    (response: { statusCode: number; end(): void }) => {
      response.statusCode = 500;
      response.end();
    },
  ],
])(
  "a server that %s in a call ends the loop instead of looking like a tool that was not used",
  async (_title, fail) => {
    const { reason, events } = await run(
      [calls(["math_run", "{}"]), chatAnswer("x")],
      {},
      {
        on: {
          "tools/call": async (_message, response) => {
            response.statusCode = 200;
            if (!_title.includes("500")) {
              response.writeHead(200, { "content-type": "text/event-stream" });
              response.write(": hello\n\n");
              await delay(20);
            }
            fail(response);
          },
        },
      },
    );
    expect(reason).toBe("mcp");
    expect(events.at(-1)?.detail).toMatch(/^the MCP server did not answer math\.run: /);
  },
);

test.each([
  ["a refusal", finish({ role: "assistant", content: null, refusal: "no" }, "stop"), "refusal"],
  ["a filtered answer", finish({ role: "assistant", content: "" }, "content_filter"), "refusal"],
  ["a cut answer", finish({ role: "assistant", content: "half" }, "length"), "length"],
  ["an empty answer", finish({ role: "assistant", content: " " }, "stop"), "empty"],
  ["an error in a good answer", { error: { message: "busy" } }, "provider"],
  ["an answer without a message", { choices: [] }, "provider"],
])("%s ends the loop as itself", async (_title, answer, reason) => {
  expect((await run([answer])).reason).toBe(reason);
});

test.each([
  [429, { error: { code: "budget_exhausted", message: "b" } }, "budget"],
  [429, { error: { code: "rate_limit", message: "slow" } }, "provider"],
  [500, {}, "provider"],
  [404, {}, "provider"],
  [400, { error: { code: "context_length_exceeded" } }, "rejected"],
  [422, {}, "rejected"],
])("an answer of %i with %j is %s, asked once", async (status, body, reason) => {
  let asked = 0;
  const result = await run((_request, response) => {
    asked += 1;
    sendJson(response, status, body);
  });
  expect([result.reason, asked]).toEqual([reason, 1]);
});

test("a provider that cannot be reached is a provider error", async () => {
  const { reason, events } = await run([], { baseUrl: "http://127.0.0.1:9/v1" });
  expect([reason, events.at(-1)?.detail]).toEqual(["provider", expect.stringContaining("ECONNREFUSED")]);
});

test("the turn limit ends a conversation that goes on", async () => {
  const again = calls(["shell", '{"command":"true"}']);
  const { reason, requests } = await run([again, again, again, again], { maxTurns: 3 });
  expect([reason, requests.length]).toEqual(["turns", 3]);
});

test("a streamed conversation means the same", async () => {
  let turn = 0;
  const chunk = (delta: object, reason: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: reason }] })}\n\n`;
  const { reason, requests, events } = await run(
    (_request, response) => {
      turn += 1;
      response.writeHead(200, { "content-type": "text/event-stream" });
      if (turn === 1) {
        response.write(
          chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: { name: "shell", arguments: "" } }] }),
        );
        response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: '{"command":"echo ' } }] }));
        response.write(chunk({ tool_calls: [{ index: 0, function: { arguments: 'hé"}' } }] }, "tool_calls"));
      } else {
        response.write(chunk({ content: "dé" }));
        response.write(chunk({ content: "jà" }, "stop"));
      }
      response.end("data: [DONE]\n\n");
    },
    { stream: true, reasoningEffort: "high", maxTokensField: "max_tokens", maxOutputTokens: 77 },
  );
  expect(reason).toBe("finished");
  expect(requests[1]).toMatchObject({
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: "high",
    max_tokens: 77,
  });
  expect(requests[1]?.messages.at(-1)?.content).toBe("[exit code 0]\nhé\n");
  expect(events.findLast(({ type }) => type === "assistant")).toMatchObject({ text: "déjà" });
});

test("what a provider adds to a tool call goes back to it", async () => {
  const call = {
    id: "c",
    type: "function",
    function: { name: "shell", arguments: '{"command":"true"}' },
    extra_content: { signature: "s" },
  };
  const message = { role: "assistant", content: "", reasoning_content: "hm", tool_calls: [call], annotations: [] };
  const { requests } = await run([finish(message, "tool_calls"), chatAnswer("ok")]);
  expect(requests[1]?.messages[2]).toEqual({
    role: "assistant",
    content: "",
    reasoning_content: "hm",
    tool_calls: [call],
  });
});
