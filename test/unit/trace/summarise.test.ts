import { expect, test } from "vitest";
import { TOOLLOOP_NAMING, toolloopConfigSchema } from "../../../runner/agent/toolloop/config.ts";
import { runLoop } from "../../../runner/agent/toolloop/loop.ts";
import type { CassetteInput } from "../../../runner/base/formats/cassette.ts";
import type { Json } from "../../../runner/base/json.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import { reconstructConversation } from "../../../runner/trace/conversation.ts";
import { readTrace } from "../../../runner/trace/read-trace.ts";
import { summariseTrace } from "../../../runner/trace/summarise.ts";
import { jacobianFixture, startRecordedJacobian } from "../../support/mcp-servers-jacobian.ts";
import { type FinishedGateway, startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const SERVER_TOOLS = ["math.find", "math.run"];

/** The tool call of a recorded exchange, as a model would write it. */
function asCall(fixture: string): { name: string; arguments: { [key: string]: Json } } {
  const { params } = JSON.parse(jacobianFixture(fixture).request.body ?? "") as {
    params: { name: string; arguments: { [key: string]: Json } };
  };
  return { name: params.name, arguments: params.arguments };
}

/** The text that the model gets as the result of a recorded call. */
function asText(fixture: string): string {
  const data = jacobianFixture(fixture).response.body.split("data: ")[1] ?? "";
  const { result } = JSON.parse(data) as { result: { content: { text: string }[] } };
  return result.content.map(({ text }) => text).join("\n");
}

const usage = (input: number, output: number) => ({ input, cachedInput: 10, output, reasoning: 2 });

function conversation(...turns: CassetteInput["conversations"][number]["exchanges"]): CassetteInput {
  return {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [{ scope: { task: "task-1", condition: "treatment" }, exchanges: turns }],
  };
}

/** Runs the reference agent on a cassette against the recorded Jacobian and returns the gateway's evidence. */
async function trial(cassette: CassetteInput): Promise<{ finished: FinishedGateway; trace: Buffer }> {
  await using server = await startRecordedJacobian();
  const tools = { naming: TOOLLOOP_NAMING, serverTools: SERVER_TOOLS };
  await using gateway = await startGateway(
    testConfig({ model: { id: "model-1", baseUrl: null }, replay: true, mcp: { url: server.url }, tools }),
    { cassette },
  );
  const config = toolloopConfigSchema.parse({
    schemaVersion: "1",
    instruction: "Find the Smith normal form.",
    model: "model-1",
    baseUrl: `${gateway.url}/v1`,
    mcpUrl: `${gateway.url}/mcp`,
    workdir: "/",
  });
  expect(await runLoop(config, () => undefined)).toBe("finished");
  const finished = await gateway.finish();
  const { readFile } = await import("node:fs/promises");
  const objects = new Map<string, Uint8Array | undefined>();
  const readObject = (name: string) => {
    const bytes = objects.get(name) ?? finished.readObject(name);
    objects.set(name, bytes);
    return bytes;
  };
  const trace = await readFile(`${gateway.folder}/trace.jsonl`);
  // The folder goes with the gateway, so everything is read before.
  const summary = () =>
    summariseTrace({
      trace: readTrace(trace, "t"),
      readObject,
      naming: TOOLLOOP_NAMING,
      serverTools: SERVER_TOOLS,
      expectedOperations: null,
    });
  summary();
  return { finished: { ...finished, readObject }, trace };
}

const WHOLE = conversation(
  { match: { turn: 1 }, reply: { toolCalls: [asCall("find-search")], usage: usage(100, 20) } },
  {
    match: { turn: 2 },
    reply: { toolCalls: [asCall("find-inspect-unknown"), asCall("run-bad-payload")], usage: usage(200, 20) },
  },
  {
    match: { turn: 3 },
    reply: { toolCalls: [asCall("run-bad-payload"), asCall("unknown-tool"), asCall("run-gcd")], usage: usage(300, 20) },
  },
  {
    match: { turn: 4 },
    reply: {
      toolCalls: [
        asCall("run-smith"),
        asCall("run-smith-certified"),
        { name: "shell", arguments: { command: "true" } },
      ],
      usage: usage(400, 20),
    },
  },
  { match: { turn: 5 }, reply: { text: "diag(2, 4)", usage: usage(500, 10) } },
);

test("a trial's metrics are derived from its trace: calls, faults, stages, repetitions, bytes, tokens", async () => {
  const { finished } = await trial(WHOLE);
  const metrics = summariseTrace({
    trace: finished.trace,
    readObject: finished.readObject,
    naming: TOOLLOOP_NAMING,
    serverTools: SERVER_TOOLS,
    expectedOperations: ["matrix.normal_form.smith.compute", "matrix.normal_form.smith.certified.compute"],
  });
  expect(metrics.modelSource).toBe("scripted");
  expect(metrics.model).toEqual({
    requests: 5,
    refused: 0,
    providerErrors: 0,
    tokens: { input: 1500, cachedInput: 50, cacheWriteInput: 0, output: 90, reasoning: 10 },
    requestsWithoutUsage: 0,
    costMicroUsd: 0,
    observedModels: ["model-1"],
    micros: expect.any(Number),
  });
  // unknown-tool never leaves the agent: the loop has no such tool, and answers the model itself.
  expect(metrics.mcp).toEqual({
    calls: 7,
    valid: 4,
    invalid: 3,
    faults: { "rpc-error": 0, "tool-error": 2, "embedded-error": 1, transport: 0, unanswered: 0 },
    byTool: { "math.find": { calls: 2, valid: 1 }, "math.run": { calls: 5, valid: 3 } },
    late: 0,
    cancelled: 0,
    resourceReads: 0,
    refused: 0,
    wireBytes: expect.any(Number),
    toolMicros: expect.any(Number),
    repeatedCalls: 1,
    repeatedErrors: 1,
  });
  const seen = [
    "find-search",
    "find-inspect-unknown",
    "run-bad-payload",
    "run-bad-payload",
    "run-gcd",
    "run-smith",
    "run-smith-certified",
  ];
  expect(metrics.view).toEqual({
    serverToolCalls: 7,
    ownToolCalls: 2,
    visibleBytes: seen.reduce((sum, name) => sum + Buffer.byteLength(asText(name)), 0),
    ownTools: ["math.nope", "shell"],
  });
  expect(metrics.use).toBe("used");
  expect(metrics.fallback).toBe("beside");
  expect(metrics.operations).toEqual([
    { operation: "integer.compute.extended_gcd", found: false, inspected: false, runs: 3, completed: 1 },
    {
      operation: "integer_configuration.relation_lattice.compute",
      found: true,
      inspected: false,
      runs: 0,
      completed: 0,
    },
    { operation: "matrix.normal_form.smith.certified.compute", found: true, inspected: false, runs: 1, completed: 1 },
    { operation: "matrix.normal_form.smith.compute", found: true, inspected: false, runs: 1, completed: 1 },
  ]);
  expect(metrics.continuation).toEqual({ discovered: 3, run: 2, completed: 2 });
  expect(metrics.irrelevantCalls).toBe(3);
  expect(metrics.checks).toEqual([
    {
      checker: "matrix.normal_form.smith.certified.compute",
      completed: true,
      producers: ["matrix.normal_form.smith.certified.compute"],
      independent: false,
    },
  ]);
  expect(metrics.callsNotSent).toBe(0);
});

test("the conversation is rebuilt as the model saw it", async () => {
  const { finished } = await trial(WHOLE);
  const items = reconstructConversation(finished.trace.events, finished.readObject);
  if (isUnknown(items)) throw new Error("unknown");
  expect(items.map(({ kind }) => kind).join(" ")).toBe(
    "text text tool-call tool-result tool-call tool-call tool-result tool-result tool-call tool-call tool-call " +
      "tool-result tool-result tool-result tool-call tool-call tool-call tool-result tool-result tool-result text",
  );
  expect(items.at(-1)).toEqual({ kind: "text", role: "assistant", text: "diag(2, 4)" });
});

test("a server that was there and was not called is unused, not absent", async () => {
  const { finished } = await trial(conversation({ match: { turn: 1 }, reply: { text: "42" } }));
  const metrics = summariseTrace({
    trace: finished.trace,
    readObject: finished.readObject,
    naming: TOOLLOOP_NAMING,
    serverTools: SERVER_TOOLS,
    expectedOperations: null,
  });
  expect(metrics.use).toBe("unused");
  expect(metrics.mcp.calls).toBe(0);
  expect(metrics.view.visibleBytes).toBe(0);
  expect(metrics.model.tokens.input).toEqual({ unknown: "missing", detail: "the answer has no usage" });
  expect(metrics.model.requestsWithoutUsage).toBe(1);
  expect(metrics.irrelevantCalls).toEqual({
    unknown: "unavailable",
    detail: "the task does not say which operations it is about",
  });
});

test("a trace without its end supports no count: every figure is unknown", async () => {
  const { trace, finished } = await trial(WHOLE);
  const torn = readTrace(trace.subarray(0, trace.length - 300), "trace.jsonl");
  expect(torn.complete).toBe(false);
  const metrics = summariseTrace({
    trace: torn,
    readObject: finished.readObject,
    naming: TOOLLOOP_NAMING,
    serverTools: SERVER_TOOLS,
    expectedOperations: [],
  });
  const leaves = (value: unknown): unknown[] =>
    typeof value !== "object" || value === null || isUnknown(value) ? [value] : Object.values(value).flatMap(leaves);
  const known = leaves(metrics).filter((leaf) => !isUnknown(leaf));
  expect(known).toEqual([]);
});

test("a body that is missing from the evidence makes what depends on it unknown, and a changed one is refused", async () => {
  const { finished } = await trial(WHOLE);
  const input = { trace: finished.trace, naming: TOOLLOOP_NAMING, serverTools: SERVER_TOOLS, expectedOperations: [] };
  const metrics = summariseTrace({ ...input, readObject: () => undefined });
  expect(metrics.view.visibleBytes).toMatchObject({ unknown: "missing" });
  expect(() => summariseTrace({ ...input, readObject: () => Buffer.from("{}") })).toThrow(
    /the bytes of a body differ from its digest/,
  );
});
