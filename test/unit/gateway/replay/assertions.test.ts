import { expect, test } from "vitest";
import type { ConversationItem } from "../../../../runner/base/formats/conversation.ts";
import { failureOf } from "../../../../runner/gateway/replay/assertions.ts";

const call = (id: string): ConversationItem => ({ kind: "tool-call", id, name: "math_run", arguments: "{}" });
const result = (id: string, text: string): ConversationItem => ({ kind: "tool-result", id, text, isError: null });
const user: ConversationItem = { kind: "text", role: "user", text: "Solve it." };

function expectation(index: number, contains: string) {
  return { on: "toolResult", index, at: null, contains } as Parameters<typeof failureOf>[0];
}

test("results of calls that ran at once count in the order of their calls, not in the order in which they ended", () => {
  const items = [
    user,
    call("a"),
    call("b"),
    result("b", "second"),
    result("a", "first"),
    call("c"),
    result("c", "third"),
  ];
  const request = { body: {}, items };
  expect(failureOf(expectation(1, "first"), request)).toBeNull();
  expect(failureOf(expectation(2, "second"), request)).toBeNull();
  expect(failureOf(expectation(3, "third"), request)).toBeNull();
  expect(failureOf(expectation(-1, "third"), request)).toBeNull();
});

test("ids that come again in a later turn, and results of unknown calls, keep their places", () => {
  const items = [user, call("a"), result("a", "one"), call("a"), result("x", "stray"), result("a", "two")];
  const request = { body: {}, items };
  expect(failureOf(expectation(1, "one"), request)).toBeNull();
  expect(failureOf(expectation(2, "two"), request)).toBeNull();
  expect(failureOf(expectation(3, "stray"), request)).toBeNull();
});
