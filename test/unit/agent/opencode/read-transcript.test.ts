import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readOpencodeTranscript } from "../../../../runner/agent/opencode/read-transcript.ts";
import { isUnknown } from "../../../../runner/base/unknown.ts";
import { ROOT } from "../../../support/e2e.ts";

const fixture = (name: string) => readFileSync(join(ROOT, "test/fixtures/agents/opencode", `${name}.jsonl`));
const UNSAID = { unknown: "unavailable", detail: "opencode's transcript does not say it" };

function known(bytes: Uint8Array) {
  const transcript = readOpencodeTranscript(bytes);
  if (isUnknown(transcript)) throw new Error(transcript.detail);
  return transcript;
}

test("a recorded run of two calls gives both with the model's ids, the tokens of both answers and the end", () => {
  expect(known(fixture("two-calls"))).toEqual({
    version: UNSAID,
    model: UNSAID,
    startup: UNSAID,
    steps: [
      {
        source: "agent",
        text: "",
        reasoning: null,
        at: "2026-11-30T15:22:00.151Z",
        calls: [
          {
            id: "call_1796052120014_1",
            name: "standin_math_run",
            arguments: '{"a":2,"b":3}',
            isError: false,
            result: "5",
          },
          {
            id: "call_1796052120014_0",
            name: "bash",
            arguments: '{"command":"echo hi; exit 3","description":"x"}',
            isError: false,
            result: "hi\n",
          },
        ],
      },
      { source: "agent", text: "FINAL: 5", reasoning: null, at: "2026-11-30T15:22:01.366Z", calls: [] },
    ],
    usage: { input: 200, cachedInput: 80, cacheWriteInput: 0, output: 40, reasoning: 14 },
    end: { reason: "finished", detail: null },
  });
});

test.each([
  ["empty", { reason: "empty", detail: null }],
  ["filtered", { reason: "refusal", detail: "The response was blocked by the provider's content filter" }],
  ["length", { reason: "length", detail: null }],
  ["status-401", { reason: "provider", detail: "status 401" }],
  ["server-fails", { reason: "finished", detail: null }],
])("a recorded run that is %s tells so", (name, end) => {
  expect(known(fixture(name)).end).toEqual(end);
});

test("a call that failed at the server is an error with the server's words", () => {
  expect(known(fixture("server-fails")).steps[0]?.calls).toMatchObject([
    { name: "standin_math_run", isError: true, result: expect.stringContaining("Error POSTing to endpoint") },
  ]);
});

test("a call of a tool that is not there stands under the name that the model gave", () => {
  expect(known(fixture("unknown-tool")).steps[0]?.calls).toMatchObject([
    { name: "no_such_tool", arguments: null, isError: true },
  ]);
});

test("what the model thought belongs to its answer", () => {
  expect(known(fixture("reasoning")).steps).toMatchObject([{ text: "FINAL: 5", reasoning: "thinking hard" }]);
});

test("zeros that stand for an answer without usage are unknown, not zero", () => {
  const missing = { unknown: "missing", detail: "the answer's tokens have no total" };
  expect(known(fixture("no-usage")).usage).toEqual({
    input: missing,
    cachedInput: missing,
    cacheWriteInput: missing,
    output: missing,
    reasoning: missing,
  });
});

test("a budget's refusal, a request that was wrong and a failure of the program are told apart", () => {
  const end = (error: object) => known(Buffer.from(`${JSON.stringify({ type: "error", error })}\n`)).end;
  const api = (statusCode: number | undefined, responseBody = "{}") =>
    end({
      name: "APIError",
      data: { message: "m", ...(statusCode === undefined ? {} : { statusCode }), responseBody },
    });
  expect(api(429, '{"error":{"code":"budget_exhausted"}}')).toEqual({ reason: "budget", detail: "m" });
  expect([api(429), api(500), api(undefined)].map((found) => found)).toEqual(
    Array(3).fill({ reason: "provider", detail: "m" }),
  );
  expect(api(400)).toEqual({ reason: "crash", detail: "m" });
  expect(end({ name: "UnknownError" })).toEqual({ reason: "crash", detail: "UnknownError" });
  expect(end({ name: "ContextOverflowError", data: { message: "m" } })).toEqual({ reason: "length", detail: "m" });
});

test("a torn, malformed or unfinished transcript is unknown", () => {
  const whole = fixture("two-calls");
  expect(readOpencodeTranscript(whole.subarray(0, whole.length - 5))).toEqual({
    unknown: "truncated",
    detail: "the last line of the transcript is torn",
  });
  expect(readOpencodeTranscript(Buffer.concat([Buffer.from("warning\n"), whole]))).toEqual({
    unknown: "unavailable",
    detail: "line 1 of the transcript is not an event",
  });
  const lines = whole.toString("utf8").split("\n");
  expect(known(Buffer.from(`${lines.slice(0, 4).join("\n")}\n`)).end).toEqual({
    unknown: "truncated",
    detail: "the transcript does not say how the last answer ended",
  });
});
