import { expect, test } from "vitest";
import { readMcpFrame } from "../../../runner/base/formats/mcp-messages.ts";
import { faultOf } from "../../../runner/trace/call-fault.ts";
import type { McpOutcome } from "../../../runner/trace/mcp-calls.ts";
import { jacobianFixture } from "../../support/mcp-servers-jacobian.ts";

function outcomeOf(name: string): McpOutcome {
  const { body, headers } = jacobianFixture(name).response;
  const sse = headers["content-type"]?.startsWith("text/event-stream") === true;
  const [message] = readMcpFrame(Buffer.from(body), sse ? "sse" : "body").messages;
  if (message?.kind === "result") return { kind: "result", result: message.result };
  if (message?.kind === "error") return { kind: "error", error: message.error };
  throw new Error(`${name} holds no answer`);
}

test.each([
  ["find-search", null, null],
  ["find-search-none", null, null],
  ["find-inspect", null, null],
  ["find-inspect-unknown", "embedded-error", "UNKNOWN_OPERATION"],
  ["find-bad-cursor", "embedded-error", "INVALID_CURSOR"],
  ["find-no-argument", "tool-error", "INVALID_REQUEST"],
  ["find-both-arguments", "tool-error", "INVALID_REQUEST"],
  ["find-limit-out-of-range", "tool-error", null],
  ["run-smith", null, null],
  ["run-gcd", null, null],
  ["run-big-integers", null, null],
  ["run-colouring", null, null],
  ["run-colouring-none", null, null],
  ["run-payload-as-string", null, null],
  ["run-bad-payload", "tool-error", "INVALID_REQUEST"],
  ["run-unknown-operation", "tool-error", "UNKNOWN_OPERATION"],
  ["run-bad-operation-pattern", "tool-error", null],
  ["run-missing-payload", "tool-error", null],
  ["run-resource-exhausted", "tool-error", "RESOURCE_EXHAUSTED"],
  ["unknown-tool", "tool-error", null],
  ["unknown-method", "rpc-error", "-32601"],
  ["unknown-resource", "rpc-error", "-32602"],
])("the recorded answer %s counts as %s with the code %s", (name, kind, code) => {
  const fault = faultOf(outcomeOf(name));
  expect([fault?.kind ?? null, fault?.code ?? null]).toEqual([kind, code]);
});

test.each([
  [{ structuredContent: { execution: { status: "ERROR" }, output: {} } }, "embedded-error", "ERROR"],
  [{ structuredContent: { execution: { status: "COMPLETED" }, output: { status: "ERROR" } } }, null, null],
  [{ content: [{ type: "text", text: '{"error": {"code": "X"}}' }] }, "embedded-error", "X"],
  [{ content: [{ type: "text", text: "plain" }] }, null, null],
])("the result %j counts as %s with the code %s", (result, kind, code) => {
  const fault = faultOf({ kind: "result", result });
  expect([fault?.kind ?? null, fault?.code ?? null]).toEqual([kind, code]);
});
