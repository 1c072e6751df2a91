import { expect, test } from "vitest";
import type { ConversationItem } from "../../../runner/base/formats/conversation.ts";
import { unknownUsage } from "../../../runner/base/formats/usage.ts";
import { type Known, unknown } from "../../../runner/base/unknown.ts";
import type { ModelExchange } from "../../../runner/trace/conversation.ts";
import { lastAnswer } from "../../../runner/trace/last-answer.ts";

const words = (text: string): ConversationItem => ({ kind: "text", role: "assistant", text });
const call: ConversationItem = { kind: "tool-call", id: "1", name: "shell", arguments: "{}" };

/** An exchange of which only its name and its answer matter. */
function exchange(name: string, items: readonly ConversationItem[], finish: Known<string>): ModelExchange {
  const answer = { items, finish, usage: unknownUsage(unknown("missing")), model: "m", error: null };
  return { request: { exchange: name }, items: [], response: {}, answer } as unknown as ModelExchange;
}

test.each([
  ["words", [words("Done.")], "stop", "text"],
  ["a refusal in words of its own kind", [{ kind: "refusal", text: "No." }], "stop", "refusal"],
  ["a refusal by its end", [words("I")], "refusal", "refusal"],
  ["a filter", [words("I")], "content_filter", "refusal"],
  ["a cut by any API's word", [words("The answer is")], "max_output_tokens", "length"],
  ["a cut in the middle of a call", [call], "max_tokens", "length"],
  ["a call", [words("Let me see."), call], "tool_calls", "tool-calls"],
  ["blank words", [words(" \n")], "end_turn", "empty"],
  ["nothing", [], "completed", "empty"],
] as const)("%s is told from the answer alone", (_title, items, finish, expected) => {
  expect(lastAnswer([exchange("x1", items, finish)], new Set(["x1"]))).toBe(expected);
});

test("side requests without tools say nothing, and an answer whose end is not known is not called empty", () => {
  const exchanges = [exchange("x1", [words("Done.")], "stop"), exchange("x2", [], "stop")];
  expect(lastAnswer(exchanges, new Set(["x1"]))).toBe("text");
  expect(lastAnswer(exchanges, new Set())).toMatchObject({ unknown: "missing" });
  expect(lastAnswer([exchange("x1", [], unknown("truncated"))], new Set(["x1"]))).toEqual({ unknown: "truncated" });
});
