import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readQwenTranscript } from "../../../../runner/agent/qwen-coder/read-transcript.ts";
import { isUnknown } from "../../../../runner/base/unknown.ts";
import { ROOT } from "../../../support/e2e.ts";

const fixture = (name: string) => readFileSync(join(ROOT, "test/fixtures/agents/qwen-coder", `${name}.jsonl`));
const OWN = [
  "list_directory",
  "read_file",
  "grep_search",
  "glob",
  "edit",
  "write_file",
  "run_shell_command",
  "todo_write",
];

function known(bytes: Uint8Array) {
  const transcript = readQwenTranscript(bytes);
  if (isUnknown(transcript)) throw new Error(transcript.detail);
  return transcript;
}

test("a recorded run of two calls gives what was there at the start, both calls, the tokens and the end", () => {
  const untold = { unknown: "unavailable", detail: "Qwen Code's transcript does not tell it" };
  expect(known(fixture("two-calls"))).toEqual({
    version: "0.15.10",
    model: "scripted-1",
    startup: {
      tools: ["mcp__standin__math.run", "mcp__standin__math.find", ...OWN],
      servers: [{ name: "standin", status: "connected" }],
    },
    steps: [
      {
        source: "agent",
        text: "",
        reasoning: null,
        at: null,
        calls: [
          {
            id: expect.stringMatching(/^call_\d+_0$/),
            name: "run_shell_command",
            arguments: '{"command":"echo hi; exit 3","description":"x"}',
            isError: false,
            result: "hi",
          },
          {
            id: expect.stringMatching(/^call_\d+_1$/),
            name: "mcp__standin__math.run",
            arguments: '{"a":2,"b":3}',
            isError: false,
            result: "5",
          },
        ],
      },
      { source: "agent", text: "FINAL: 5", reasoning: null, at: null, calls: [] },
    ],
    usage: { input: 200, cachedInput: 80, cacheWriteInput: untold, output: 40, reasoning: untold },
    end: { reason: "finished", detail: null },
  });
});

test.each([
  ["empty", { reason: "empty", detail: "Model stream ended with empty response text." }],
  ["server-absent", { reason: "mcp", detail: "Qwen Code says that its MCP server standin is disconnected" }],
  ["status-401", { reason: "crash", detail: "401 status 401" }],
  ["unreachable", { reason: "crash", detail: "Connection error. (cause: fetch failed)" }],
  ["server-error", { reason: "finished", detail: null }],
])("a recorded run with %s tells so", (name, end) => {
  expect(known(fixture(name)).end).toEqual(end);
});

test("a run that was killed at its first request has a start and no end", () => {
  expect(known(fixture("killed"))).toMatchObject({
    startup: { servers: [{ name: "standin", status: "connected" }] },
    steps: [],
    usage: { unknown: "missing", detail: "the transcript has no result" },
    end: { unknown: "truncated", detail: "the transcript does not say how it ended" },
  });
});

test("a model whose last words look like a failing provider's does not make it one", () => {
  const last = { type: "result", subtype: "success", is_error: false, result: "[API Error: 500 overloaded]" };
  expect(known(Buffer.from(`${JSON.stringify(last)}\n`)).end).toEqual({ reason: "crash", detail: "500 overloaded" });
});

test("an answer of the server that is an error is one, with its words", () => {
  expect(known(fixture("server-error")).steps[0]?.calls).toMatchObject([
    { name: "mcp__standin__math.run", isError: true, result: expect.stringContaining("reported tool error") },
  ]);
});

test("what the model says beside a call is one answer with it, and its tokens count once", () => {
  const { steps, usage } = known(fixture("text-and-call"));
  expect(steps).toMatchObject([
    { text: "I will run it.", calls: [{ name: "run_shell_command", isError: false, result: "hi" }] },
    { text: "FINAL: 5", calls: [] },
  ]);
  expect(usage).toMatchObject({ input: 200, cachedInput: 80, output: 40 });
});

test("what the model thought belongs to the answer that follows", () => {
  expect(known(fixture("reasoning")).steps).toMatchObject([{ text: "FINAL: 5", reasoning: "thinking hard" }]);
});

test("zeros that stand for an answer without usage are unknown, not zero", () => {
  expect(known(fixture("no-usage")).usage).toEqual({
    unknown: "missing",
    detail: "an answer of the model has no usage",
  });
  expect(known(fixture("reasoning")).usage).toMatchObject({ input: 100, output: 20 });
});

test("a torn or malformed transcript is unknown, and one without a start does not say what was there", () => {
  const whole = fixture("two-calls");
  expect(readQwenTranscript(whole.subarray(0, whole.length - 5))).toEqual({
    unknown: "truncated",
    detail: "the last line of the transcript is torn",
  });
  expect(readQwenTranscript(Buffer.concat([Buffer.from("warning\n"), whole]))).toEqual({
    unknown: "unavailable",
    detail: "line 1 of the transcript is not an event",
  });
  const unstarted = { unknown: "missing", detail: "the transcript has no start" };
  const lines = whole.toString("utf8").split("\n");
  expect(known(Buffer.from(lines.slice(1).join("\n")))).toMatchObject({ startup: unstarted, version: unstarted });
});
