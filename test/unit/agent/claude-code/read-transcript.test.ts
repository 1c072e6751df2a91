import { expect, test } from "vitest";
import { CLAUDE_CODE } from "../../../../runner/agent/claude-code/agent.ts";
import { readClaudeTranscript } from "../../../../runner/agent/claude-code/read-transcript.ts";

const lines = (...events: readonly object[]) =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
const read = (...events: readonly object[]) => readClaudeTranscript(lines(...events), "jacobian");
const init = (status: string) => ({
  ...{ type: "system", subtype: "init", claude_code_version: "2.1.332", model: "claude-x" },
  tools: ["Bash", "mcp__jacobian__math_run"],
  mcp_servers: [{ name: "jacobian", status, source: "dynamic" }],
});
const assistant = (id: string, content: object, model = "claude-x", more: object = {}) => ({
  ...{ type: "assistant", timestamp: "2026-11-30T15:01:44.109Z", ...more },
  message: { id, role: "assistant", model, content: [content] },
});
const CALL = { type: "tool_use", id: "toolu_1", name: "mcp__jacobian__math_run", input: { operation: "a" } };
const ANSWER = {
  type: "user",
  message: {
    role: "user",
    content: [{ type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "5" }] }],
  },
};
const result = (more: object = {}) => ({
  ...{ type: "result", subtype: "success", is_error: false, stop_reason: "end_turn", result: "DONE" },
  usage: { input_tokens: 60, cache_creation_input_tokens: 5, cache_read_input_tokens: 40, output_tokens: 20 },
  ...more,
});
const explain = (stdout: Uint8Array, exitCode: number) =>
  CLAUDE_CODE.explainEnd({ exitCode, transcript: readClaudeTranscript(stdout, "jacobian"), lastWords: "" });

test("start-up, calls with their answers, usage and end are read; the events of one answer are one step", () => {
  const events = [
    init("connected"),
    assistant("msg_1", { type: "thinking", thinking: "Hm." }),
    assistant("msg_1", CALL),
    ANSWER,
    assistant("msg_2", { type: "text", text: "DONE" }),
    result(),
  ];
  const at = "2026-11-30T15:01:44.109Z";
  expect(read(...events)).toEqual({
    version: "2.1.332",
    model: "claude-x",
    startup: {
      tools: ["Bash", "mcp__jacobian__math_run"],
      servers: [{ name: "jacobian", status: "connected" }],
    },
    steps: [
      {
        ...{ source: "agent", text: "", reasoning: "Hm.", at },
        calls: [
          {
            ...{ id: "toolu_1", name: "mcp__jacobian__math_run", arguments: '{"operation":"a"}' },
            ...{ isError: false, result: "5" },
          },
        ],
      },
      { source: "agent", text: "DONE", reasoning: null, calls: [], at },
    ],
    usage: {
      ...{ input: 105, cachedInput: 40, cacheWriteInput: 5, output: 20 },
      reasoning: { unknown: "missing", detail: "the usage has no output_tokens_details.thinking_tokens" },
    },
    end: { reason: "finished", detail: null },
  });
});

test("a server that is not connected is named although the exit code is good", () => {
  expect(explain(lines(init("failed"), result()), 0)).toEqual({
    kind: "condition",
    detail: "Claude Code says that its MCP server jacobian is failed",
  });
});

const synthetic = (more: object) => assistant("x", { type: "text", text: "API Error" }, "<synthetic>", more);
const apiError = (more: object) =>
  result({ is_error: true, terminal_reason: "api_error", result: "API Error", ...more });

test.each([
  ["429", "provider", [apiError({ api_error_status: 429 })]],
  ["401", "provider", [apiError({ api_error_status: 401 })]],
  ["500", "provider", [apiError({ api_error_status: 500 })]],
  ["no answer", "provider", [apiError({ api_error_status: null })]],
  ["a request that is wrong", "crash", [apiError({ api_error_status: 400 })]],
  ["a refusal", "self", [apiError({ api_error_status: null, stop_reason: "refusal" })]],
  ["a cut", "self", [synthetic({ api_error: "max_output_tokens" }), apiError({ api_error_status: null })]],
  ["a full context", "self", [result({ is_error: true, terminal_reason: "prompt_too_long" })]],
])("a result after %s means %s", (_title, kind, events) => {
  expect(explain(lines(init("connected"), ...events), 1).kind).toBe(kind);
});

test("words that the program puts into the model's mouth are no step", () => {
  expect(read(init("connected"), synthetic({}), apiError({ api_error_status: 500 }))).toMatchObject({ steps: [] });
});

test("a transcript without a result has no end, and one without a start no version", () => {
  expect(read(init("connected"))).toMatchObject({ end: { unknown: "truncated" }, usage: { unknown: "missing" } });
  expect(read(result())).toMatchObject({ version: { unknown: "missing" }, startup: { unknown: "missing" } });
});
