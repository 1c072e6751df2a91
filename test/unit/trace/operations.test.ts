import { expect, test } from "vitest";
import type { ExactJson } from "../../../runner/base/json.ts";
import type { McpOutcome, ToolCall } from "../../../runner/trace/mcp-calls.ts";
import { operationChecks } from "../../../runner/trace/operation-checks.ts";
import { operationStages } from "../../../runner/trace/operation-stages.ts";

function call(tool: string, given: ExactJson, outcome: McpOutcome): ToolCall {
  const params = { name: tool, arguments: given };
  return {
    exchange: "x",
    method: "tools/call",
    params,
    tool,
    given,
    outcome,
    startedUs: 0,
    endedUs: 1,
    late: false,
    cancelled: false,
  };
}

function run(operation: string, payload: ExactJson, output: ExactJson, answered = operation): ToolCall {
  const structuredContent = { operation_id: answered, runtime_ms: 1, output };
  return call(
    "math.run",
    { operation_id: operation, payload },
    { kind: "result", result: { structuredContent, isError: false } },
  );
}

test("a run counts as completed only when its result is that of the operation that was asked for", () => {
  const failed: McpOutcome = { kind: "result", result: { content: [{ type: "text", text: "no" }], isError: true } };
  const calls = [
    run("a.compute", {}, {}),
    run("b.compute", {}, {}, "other.compute"),
    call("math.run", { operation_id: "a.compute", payload: {} }, failed),
    call("math.run", { payload: {} }, failed),
  ];
  expect(operationStages(calls)).toEqual([
    { operation: "a.compute", found: false, inspected: false, runs: 2, completed: 1 },
    { operation: "b.compute", found: false, inspected: false, runs: 1, completed: 0 },
  ]);
});

test("an inspection counts for the operation that the server described, and a failed one for none", () => {
  const described = (document: ExactJson): McpOutcome => ({ kind: "result", result: { structuredContent: document } });
  const calls = [
    call(
      "math.find",
      { operation_id: "a.compute" },
      described({ kind: "operation", operation: { operation_id: "a.compute" } }),
    ),
    call(
      "math.find",
      { operation_id: "b.compute" },
      described({ kind: "error", error: { code: "UNKNOWN_OPERATION" } }),
    ),
  ];
  expect(operationStages(calls)).toEqual([
    { operation: "a.compute", found: false, inspected: true, runs: 0, completed: 0 },
  ]);
});

const COLOURING = { coloring: [0, 1, 2, 0, 1], colors: 3 };

test("a check is independent when another operation produced what it checks", () => {
  const calls = [
    run("graph.coloring.k_colorability.decide", { graph: 1 }, { coloring: COLOURING }),
    run("graph.homomorphism.check", { candidate: COLOURING }, { valid: true }),
  ];
  expect(operationChecks(calls)).toEqual([
    {
      checker: "graph.homomorphism.check",
      completed: true,
      producers: ["graph.coloring.k_colorability.decide"],
      independent: true,
    },
  ]);
});

test("a certificate that an operation gives about its own result is not independent", () => {
  expect(operationChecks([run("matrix.normal_form.smith.certified.compute", {}, {})])).toMatchObject([
    { producers: ["matrix.normal_form.smith.certified.compute"], independent: false },
  ]);
});

test("a check of something that nothing in the trace produced has an unknown producer", () => {
  const calls = [
    run("integer.gcd.compute", {}, { gcd: "6" }),
    run(
      "latin_square.check",
      {
        rows: [
          [0, 1],
          [1, 0],
        ],
      },
      {},
    ),
  ];
  expect(operationChecks(calls)).toEqual([
    {
      checker: "latin_square.check",
      completed: true,
      producers: [],
      independent: { unknown: "unavailable", detail: "nothing that the trace saw produced goes into this check" },
    },
  ]);
});

test("what a failed run printed produces nothing", () => {
  const failed = call(
    "math.run",
    { operation_id: "graph.colour.compute", payload: {} },
    { kind: "result", result: { structuredContent: { output: COLOURING }, isError: true } },
  );
  expect(
    operationChecks([failed, run("graph.homomorphism.check", { candidate: COLOURING }, {})])[0]?.producers,
  ).toEqual([]);
});
