import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText } from "../../../runner/base/canonical-json.ts";
import { modelTurns } from "../../../runner/base/formats/conversation.ts";
import { offeredToolNames, requestItems } from "../../../runner/base/formats/model-request.ts";
import { readModelAnswer } from "../../../runner/base/formats/model-response.ts";
import { plainJson, printExact } from "../../../runner/base/formats/plain-json.ts";
import { makeBody } from "../../../runner/base/formats/trace-body.ts";
import { readUsage } from "../../../runner/base/formats/usage.ts";
import { parseExactJson } from "../../../runner/base/strict-json.ts";

test("the plain form of any JSON has a canonical text, with every digit and every lone surrogate kept apart", () => {
  const text = '{"n":1915883588174806058,"s":"\\ud835","t":"ok","\\udc00":[9007199254740993]}';
  expect(canonicalText(plainJson(parseExactJson(text, { source: "t" })))).toBe(
    '{"\\"\\\\udc00\\"":[{"$integer":"9007199254740993"}],"n":{"$integer":"1915883588174806058"},"s":{"$escaped":"\\"\\\\ud835\\""},"t":"ok"}',
  );
});

test("exact printing gives back what was read", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), fc.bigInt(), (value, big) => {
      const text = `[${JSON.stringify(value)},${big}]`;
      const read = parseExactJson(text, { source: "t" });
      expect(parseExactJson(printExact(read), { source: "t" })).toEqual(read);
    }),
  );
});

test("a body keeps its bytes: as text, as base64 when they are no UTF-8, as an object when they are many", () => {
  expect(makeBody(Buffer.from("é"))).toMatchObject({ bytes: 2, text: "é", redacted: 0 });
  expect(makeBody(Buffer.from([0xff, 0xfe]))).toMatchObject({ bytes: 2, base64: "//4=" });
  expect(makeBody(Buffer.alloc(8193))).toMatchObject({ bytes: 8193, object: true });
});

const RESPONSES_INPUT = {
  instructions: "be brief",
  input: [
    { role: "developer", content: [{ type: "input_text", text: "rules" }] },
    {
      type: "message",
      role: "user",
      content: [
        { type: "input_text", text: "go" },
        { type: "input_image", image_url: "data:x" },
      ],
    },
    { type: "reasoning", summary: [{ type: "summary_text", text: "hm" }] },
    { type: "function_call", call_id: "c1", namespace: "mcp__s", name: "math_run", arguments: '{"a":1}' },
    { type: "custom_tool_call", call_id: "c2", name: "patch", input: "*** x" },
    { type: "function_call_output", call_id: "c1", output: [{ type: "input_text", text: "5" }] },
    { type: "custom_tool_call_output", call_id: "c2", output: "done" },
    { type: "local_shell_call", call_id: "c3", action: { type: "exec", command: ["ls"] } },
    { type: "local_shell_call_output", call_id: "c3", output: "a" },
  ],
};

test("a Responses conversation is read piece by piece", () => {
  const items = requestItems("responses", RESPONSES_INPUT);
  expect(items).toEqual([
    { kind: "text", role: "system", text: "be brief" },
    { kind: "text", role: "system", text: "rules" },
    { kind: "text", role: "user", text: "go" },
    { kind: "other", type: "input_image" },
    { kind: "reasoning", text: "hm" },
    { kind: "tool-call", id: "c1", name: "mcp__s__math_run", arguments: '{"a":1}' },
    { kind: "tool-call", id: "c2", name: "patch", arguments: "*** x" },
    { kind: "tool-result", id: "c1", text: "5", isError: null },
    { kind: "tool-result", id: "c2", text: "done", isError: null },
    { kind: "tool-call", id: "c3", name: "local_shell", arguments: '{"type":"exec","command":["ls"]}' },
    { kind: "tool-result", id: "c3", text: "a", isError: null },
  ]);
  expect(modelTurns(items)).toBe(2);
});

test("a Messages conversation is read piece by piece", () => {
  const items = requestItems("messages", {
    system: [{ type: "text", text: "s" }],
    messages: [
      { role: "user", content: "go" },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm" },
          { type: "tool_use", id: "t", name: "f", input: { n: 12345678901234567890n } },
        ],
      },
      {
        role: "user",
        content: [{ type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "no" }], is_error: true }],
      },
    ],
  });
  expect(items).toEqual([
    { kind: "text", role: "system", text: "s" },
    { kind: "text", role: "user", text: "go" },
    { kind: "reasoning", text: "hm" },
    { kind: "tool-call", id: "t", name: "f", arguments: '{"n":12345678901234567890}' },
    { kind: "tool-result", id: "t", text: "no", isError: true },
  ]);
});

test("the tools of a request are named in its order, legacy functions and nameless tools too", () => {
  const tools = [
    { type: "function", function: { name: "a" } },
    { type: "custom", custom: { name: "b" } },
  ];
  expect(offeredToolNames("chat", { tools, functions: [{ name: "c" }] })).toEqual(["a", "b", "c"]);
  expect(offeredToolNames("responses", { tools: [{ type: "local_shell" }, {}] })).toEqual(["local_shell", "?"]);
});

test("tools that a Responses request hides inside its conversation are offered, too", () => {
  const inner = [
    { type: "custom", name: "exec" },
    { type: "function", name: "wait" },
  ];
  const hidden = {
    type: "additional_tools",
    role: "developer",
    tools: [{ type: "namespace", name: "functions", tools: inner }],
  };
  const words = { type: "message", role: "user", content: "x" };
  expect(offeredToolNames("responses", { input: [hidden, words] })).toEqual(["functions__exec", "functions__wait"]);
  expect(offeredToolNames("responses", { input: "x", tools: [{ type: "function", name: "f" }] })).toEqual(["f"]);
});

test.each([
  [
    "chat",
    { prompt_tokens: 5 },
    { input: 5, output: { unknown: "missing" }, cachedInput: { unknown: "missing" }, cacheWriteInput: 0 },
  ],
  [
    "chat",
    { prompt_tokens: -1, completion_tokens: 1.5 },
    { input: { unknown: "unavailable" }, output: { unknown: "unavailable" } },
  ],
  ["chat", { prompt_tokens: 9, prompt_cache_hit_tokens: 4, completion_tokens: 1 }, { cachedInput: 4 }],
  ["messages", { output_tokens: 5 }, { input: { unknown: "missing" }, cachedInput: { unknown: "missing" }, output: 5 }],
  ["messages", { input_tokens: 1, cache_read_input_tokens: 2 }, { input: 3, cachedInput: 2, cacheWriteInput: 0 }],
  ["responses", {}, { input: { unknown: "missing" }, reasoning: { unknown: "missing" } }],
] as const)("a %s usage of %j is read without a silent zero", (api, usage, expected) => {
  expect(readUsage(api, usage)).toMatchObject(expected);
});

test("an answer that is no JSON has no usage, no model and no exception", () => {
  const answer = readModelAnswer("chat", Buffer.from("<html>"), false);
  expect(answer).toMatchObject({
    items: [],
    error: null,
    model: { unknown: "unavailable" },
    usage: { input: { unknown: "unavailable" } },
  });
});

test("a Messages stream that is cut before its end has no output count, since the first event's is not the answer's", () => {
  const start = { type: "message_start", message: { model: "m", usage: { input_tokens: 3, output_tokens: 1 } } };
  const answer = readModelAnswer(
    "messages",
    Buffer.from(`event: message_start\ndata: ${JSON.stringify(start)}\n\n`),
    true,
  );
  expect(answer.usage).toMatchObject({ input: 3, output: { unknown: "missing" } });
});
