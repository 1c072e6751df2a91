import { expect, test } from "vitest";
import type { CassetteInput } from "../../../runner/base/formats/cassette.ts";
import type { ToolNaming } from "../../../runner/base/formats/tool-naming.ts";
import { reconcileCalls } from "../../../runner/trace/reconcile.ts";
import { sendResult, startMcpServer, toolResult } from "../../support/mcp-servers.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const naming: ToolNaming = { prefix: "", sanitise: true, own: ["shell"] };
const serverTools = ["math.find", "math.run"];
const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

/** Lets the model write some calls and sends others to the server, and returns how the records differ. */
async function reconcile(
  written: readonly (readonly [string, object])[],
  sent: readonly (readonly [string, object, string?])[],
  transcript: readonly (readonly [string, string | null, string?])[] | null,
  callIdMeta: string | null = null,
) {
  const toolCalls = written.map(([name, given]) => ({ name, arguments: given as never }));
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      { scope: { task: "task-1", condition: "treatment" }, exchanges: [{ match: { turn: 1 }, reply: { toolCalls } }] },
    ],
  };
  await using server = await startMcpServer({
    on: { "tools/call": ({ id }, response) => sendResult(response, id, toolResult({})) },
  });
  await using gateway = await startGateway(
    testConfig({ model: { id: "m", baseUrl: null }, replay: true, mcp: { url: server.url } }),
    { cassette },
  );
  const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "x" }] });
  await (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body })).text();
  for (const [index, [name, given, id]] of sent.entries()) {
    const meta = id === undefined ? {} : { _meta: { callId: id } };
    const call = { jsonrpc: "2.0", id: index, method: "tools/call", params: { name, arguments: given, ...meta } };
    await (await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: JSON.stringify(call) })).text();
  }
  const { trace, readObject } = await gateway.finish();
  return reconcileCalls({
    trace,
    readObject,
    naming,
    serverTools,
    callIdMeta,
    untold: ["peek"],
    transcript:
      transcript?.map(([name, given, id = null]) => ({ id, name, arguments: given, isError: null, result: null })) ??
      null,
  });
}

test("records that agree have no difference, whatever the spelling of their JSON", async () => {
  const differences = await reconcile(
    [
      ["math_run", { b: 1, a: [2] }],
      ["shell", { command: "true" }],
    ],
    [["math.run", { a: [2], b: 1 }]],
    [
      ["math_run", '{ "a":[2],"b":1 }'],
      ["shell", '{"command":"true"}'],
    ],
  );
  expect(differences).toEqual([]);
});

test("a call that the agent denied is listed as not sent", async () => {
  const call = (n: number) => ["math_run", { n }] as const;
  const differences = await reconcile(
    [call(1), call(2), call(3)],
    [
      ["math.run", { n: 1 }],
      ["math.run", { n: 3 }],
    ],
    null,
  );
  expect(differences).toEqual([{ cause: "not-sent", name: "math_run", arguments: '{"n":2}' }]);
});

test("a call that no model wrote, and one that the agent changed, are listed by cause", async () => {
  const differences = await reconcile(
    [["math_run", { n: "12345678901234567890" }]],
    [
      ["math.run", { n: "12345678901234567891" }],
      ["math.find", {}],
    ],
    [
      ["math_run", '{"n":"12345678901234567890"}'],
      ["shell", "{}"],
    ],
  );
  expect(differences).toEqual([
    { cause: "not-sent", name: "math_run", arguments: '{"n":"12345678901234567890"}' },
    { cause: "not-written", name: "math_run", arguments: '{"n":"12345678901234567891"}' },
    { cause: "not-written", name: "math_find", arguments: "{}" },
    { cause: "only-in-transcript", name: "shell", arguments: "{}" },
  ]);
});

test("of equal calls as many must stand on each side", async () => {
  const call = ["math_run", { n: 1 }] as const;
  const differences = await reconcile([call, call], [["math.run", { n: 1 }]], [["math_run", '{"n":1}']]);
  expect(differences).toEqual([
    { cause: "not-sent", name: "math_run", arguments: '{"n":1}' },
    { cause: "not-in-transcript", name: "math_run", arguments: '{"n":1}' },
  ]);
});

test("a call is followed by the model's id where both records have it, and one with other arguments is named as changed", async () => {
  const written = [
    ["math_run", { n: 1 }],
    ["math_run", { n: 1 }],
  ] as const;
  // The model's ids, as the stand-in gives them: turn and place.
  const differences = await reconcile(
    written,
    [
      ["math.run", { n: 1 }, "call_1_2"],
      ["math.run", { n: 2 }, "call_1_1"],
    ],
    [
      ["math_run", '{"n":1}', "call_1_2"],
      ["math_run", '{"n":9}', "call_1_1"],
    ],
    "callId",
  );
  expect(differences).toEqual([
    { cause: "changed-sent", name: "math_run", arguments: '{"n":2}' },
    { cause: "changed-in-transcript", name: "math_run", arguments: '{"n":9}' },
  ]);
});

test("an id that no model gave is not taken for another call with the same arguments", async () => {
  const differences = await reconcile([["math_run", { n: 1 }]], [["math.run", { n: 1 }, "forged"]], null, "callId");
  expect(differences).toEqual([
    { cause: "not-sent", name: "math_run", arguments: '{"n":1}' },
    { cause: "not-written", name: "math_run", arguments: '{"n":1}' },
  ]);
});

test("a transcript without arguments is held against the calls by name, and tools that it never tells of are left out", async () => {
  const differences = await reconcile(
    [
      ["shell", { command: "a" }],
      ["shell", { command: "b" }],
      ["peek", {}],
    ],
    [],
    [["shell", null]],
  );
  expect(differences).toEqual([{ cause: "not-in-transcript", name: "shell", arguments: '{"command":"b"}' }]);
});
