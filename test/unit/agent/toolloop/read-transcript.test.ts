import { expect, test } from "vitest";
import { readToolloopTranscript } from "../../../../runner/agent/toolloop/read-transcript.ts";
import { transcriptCalls } from "../../../../runner/base/formats/transcript.ts";
import { isUnknown } from "../../../../runner/base/unknown.ts";

const line = (event: object) => `${JSON.stringify(event)}\n`;
const START = line({ type: "start", schemaVersion: "1", model: "m", tools: ["shell", "math_run"], mcp: true });
const USAGE = {
  prompt_tokens: 7,
  prompt_tokens_details: { cached_tokens: 2 },
  completion_tokens: 3,
  completion_tokens_details: { reasoning_tokens: 1 },
};
const ASSISTANT = line({
  type: "assistant",
  turn: 1,
  text: "",
  toolCalls: [
    { id: "a", name: "shell", arguments: '{"command":"true"}' },
    { id: "b", name: "math_run", arguments: "{}" },
  ],
  usage: USAGE,
});
const RESULT = line({
  type: "tool-result",
  turn: 1,
  id: "a",
  name: "shell",
  text: "x\u2028y",
  isError: false,
  micros: 3,
});
const END = line({ type: "end", reason: "finished", detail: null });

const read = (text: string) => readToolloopTranscript(Buffer.from(text), "jacobian");

test("a transcript gives what the loop had, each call with its answer, the tokens and the end", () => {
  expect(read(START + ASSISTANT + RESULT + END)).toEqual({
    version: { unknown: "unavailable", detail: "the loop does not name its version" },
    model: "m",
    startup: { tools: ["shell", "math_run"], servers: [{ name: "jacobian", status: "connected" }] },
    steps: [
      {
        source: "agent",
        text: "",
        reasoning: null,
        at: null,
        calls: [
          { id: "a", name: "shell", arguments: '{"command":"true"}', isError: false, result: "x\u2028y" },
          { id: "b", name: "math_run", arguments: "{}", isError: null, result: null },
        ],
      },
    ],
    usage: { input: 7, cachedInput: 2, cacheWriteInput: 0, output: 3, reasoning: 1 },
    end: { reason: "finished", detail: null },
  });
});

test("equal ids in two turns are two calls, and the tokens of both turns are added", () => {
  const transcript = read(START + ASSISTANT + ASSISTANT.replace('"turn":1', '"turn":2'));
  if (isUnknown(transcript)) throw new Error(transcript.detail);
  expect(transcriptCalls(transcript)).toHaveLength(4);
  expect(transcript.usage).toMatchObject({ input: 14, output: 6 });
});

test("a turn without usage makes the totals unknown", () => {
  expect(read(START + line({ type: "assistant", turn: 1, text: "x", toolCalls: [] }) + END)).toMatchObject({
    usage: { input: { unknown: "missing" }, output: { unknown: "missing" } },
  });
});

test("a transcript without an end has an unknown end; a torn or foreign line makes it unknown", () => {
  expect(read(START)).toMatchObject({
    steps: [],
    end: { unknown: "truncated", detail: "the transcript does not say how the loop ended" },
  });
  expect(read(START + ASSISTANT.slice(0, 50))).toMatchObject({ unknown: "truncated" });
  expect(read(`${START}oops\n${END}`)).toEqual({
    unknown: "unavailable",
    detail: "line 2 of the transcript is not an event",
  });
});
