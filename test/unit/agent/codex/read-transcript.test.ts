import { expect, test } from "vitest";
import { CODEX } from "../../../../runner/agent/codex/agent.ts";
import { readCodexTranscript } from "../../../../runner/agent/codex/read-transcript.ts";

const lines = (...events: readonly object[]) =>
  Buffer.from(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
const THREAD = { type: "thread.started", thread_id: "01a22cf7" };
const TURN = { type: "turn.started" };
const METADATA = {
  type: "item.completed",
  item: {
    id: "item_0",
    type: "error",
    message: "Model metadata for `gpt-x` not found. Defaulting to fallback metadata.",
  },
};
const mcp = (status: string, result: object | null, error: object | null = null) => ({
  type: status === "in_progress" ? "item.started" : "item.completed",
  item: {
    ...{ id: "item_1", type: "mcp_tool_call", server: "jacobian", tool: "math.run" },
    ...{ arguments: { operation: "a" }, result, error, status },
  },
});
const shell = (status: string, output: string, exit: number | null) => ({
  type: status === "in_progress" ? "item.started" : "item.completed",
  item: {
    ...{ id: "item_2", type: "command_execution", command: "/bin/bash -lc 'echo hi; exit 3'" },
    ...{ aggregated_output: output, exit_code: exit, status },
  },
});
const words = (text: string) => ({ type: "item.completed", item: { id: "item_3", type: "agent_message", text } });
const COMPLETED = {
  type: "turn.completed",
  usage: {
    ...{ input_tokens: 300, cached_input_tokens: 120, cache_write_input_tokens: 0 },
    ...{ output_tokens: 60, reasoning_output_tokens: 21 },
  },
};
const failed = (message: string) => [
  { type: "error", message },
  { type: "turn.failed", error: { message } },
];
const explain = (stdout: Uint8Array, exitCode: number, lastWords = "") =>
  CODEX.explainEnd({ exitCode, transcript: readCodexTranscript(stdout), lastWords });

test("calls come once with their answers, in order, and the turn's usage is the transcript's", () => {
  const result = { content: [{ type: "text", text: "RESULT-5" }], structured_content: { v: 5 } };
  const stdout = lines(
    ...[THREAD, METADATA, TURN, mcp("in_progress", null), mcp("completed", result)],
    ...[shell("in_progress", "", null), shell("failed", "hi\n", 3), words("DONE"), COMPLETED],
  );
  const unsaid = { unknown: "unavailable", detail: "Codex's transcript does not say it" };
  const step = { source: "agent", text: "", reasoning: null, at: null };
  expect(readCodexTranscript(stdout)).toEqual({
    ...{ version: unsaid, model: unsaid, startup: unsaid },
    steps: [
      {
        ...step,
        calls: [
          {
            ...{ id: null, name: "mcp__jacobian__math_run", arguments: '{"operation":"a"}' },
            ...{ isError: false, result: '{"v":5}' },
          },
        ],
      },
      { ...step, calls: [{ id: null, name: "exec_command", arguments: null, isError: true, result: "hi\n" }] },
      { ...step, text: "DONE", calls: [] },
    ],
    usage: { input: 300, cachedInput: 120, cacheWriteInput: 0, output: 60, reasoning: 21 },
    end: { reason: "finished", detail: null },
  });
  expect(explain(stdout, 0)).toEqual({ kind: "self", detail: null });
});

test("a call that was cut off has no answer, and a turn that was has no end and no usage", () => {
  expect(readCodexTranscript(lines(THREAD, TURN, shell("in_progress", "", null)))).toMatchObject({
    steps: [{ calls: [{ name: "exec_command", isError: null, result: null }] }],
    usage: { unknown: "missing" },
    end: { unknown: "truncated" },
  });
});

test("the tools for a server's resources keep their own names", () => {
  const listed = mcp("completed", { content: [{ type: "text", text: "{}" }], structured_content: null });
  const item = { ...listed.item, server: "codex", tool: "list_mcp_resources", arguments: {} };
  expect(readCodexTranscript(lines({ ...listed, item }))).toMatchObject({
    steps: [{ calls: [{ name: "list_mcp_resources", result: "{}" }] }],
  });
});

test.each([
  ["exceeded retry limit, last status: 429 Too Many Requests", "provider"],
  ["unexpected status 401 Unauthorized: bad key, url: http://gateway:8080/v1/responses", "provider"],
  ["We’re currently experiencing high demand, which may cause temporary errors.", "provider"],
  ["Incomplete response returned, reason: max_output_tokens", "self"],
  ["stream disconnected before completion: Incomplete response returned, reason: content_filter", "self"],
  ["Codex ran out of room in the model's context window. Start a new thread.", "self"],
  ["unexpected status 403 Forbidden: condition, url: http://gateway:8080/v1/responses", "crash"],
  ["something that nobody has seen", "crash"],
])("a turn that failed with %j means %s", (message, kind) => {
  expect(explain(lines(THREAD, TURN, ...failed(message)), 1).kind).toBe(kind);
});

test("a turn without words is an empty answer", () => {
  expect(explain(lines(THREAD, TURN, COMPLETED), 0)).toEqual({ kind: "self", detail: "the model's answer was empty" });
});

test("a required server that cannot be used is told from a crash by its words on the standard error", () => {
  const said = "Error: thread/start failed: required MCP servers failed to initialize: jacobian: HTTP 503";
  expect(explain(Buffer.alloc(0), 1, said)).toEqual({
    kind: "condition",
    detail: "Codex could not initialise the MCP server",
  });
  expect(explain(Buffer.alloc(0), 1, "panicked")).toEqual({
    kind: "crash",
    detail: "the agent ended with exit code 1: panicked",
  });
});
