import { expect, test } from "vitest";
import { readToolloopTranscript } from "../../../../runner/agent/toolloop/read-transcript.ts";

const line = (event: object) => `${JSON.stringify(event)}\n`;
const START = line({ type: "start", schemaVersion: "1", model: "m", tools: ["shell"], mcp: false });
const ASSISTANT = line({
  type: "assistant",
  turn: 1,
  text: "",
  toolCalls: [
    { id: "a", name: "shell", arguments: '{"command":"true"}' },
    { id: "b", name: "math_run", arguments: "{}" },
  ],
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

test("calls come with how they ended, and the loop's end with its reason", () => {
  expect(readToolloopTranscript(Buffer.from(START + ASSISTANT + RESULT + END))).toEqual({
    calls: [
      { id: "a", name: "shell", arguments: '{"command":"true"}', isError: false },
      { id: "b", name: "math_run", arguments: "{}", isError: null },
    ],
    end: { reason: "finished", detail: null },
  });
});

test("equal ids in two turns are two calls", () => {
  const again = ASSISTANT.replace('"turn":1', '"turn":2');
  const transcript = readToolloopTranscript(Buffer.from(START + ASSISTANT + again));
  expect("calls" in transcript && transcript.calls).toHaveLength(4);
});

test("a transcript without an end has an unknown end; a torn or foreign line makes it unknown", () => {
  expect(readToolloopTranscript(Buffer.from(START))).toEqual({
    calls: [],
    end: { unknown: "truncated", detail: "the transcript does not say how the loop ended" },
  });
  expect(readToolloopTranscript(Buffer.from(START + ASSISTANT.slice(0, 50)))).toMatchObject({ unknown: "truncated" });
  expect(readToolloopTranscript(Buffer.from(`${START}oops\n${END}`))).toEqual({
    unknown: "unavailable",
    detail: "line 2 of the transcript is not an event",
  });
});
