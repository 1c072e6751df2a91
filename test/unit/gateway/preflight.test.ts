import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { digestBytes, digestJson } from "../../../runner/base/digest.ts";
import type { GatewayConfigInput } from "../../../runner/base/formats/gateway-config.ts";
import { type Catalog, surfaceDigest, surfaceSchema } from "../../../runner/base/formats/surface.ts";
import { survey } from "../../../runner/gateway/preflight/survey.ts";
import { type StandInOptions, sendEvent, sendResult, startMcpServer } from "../../support/mcp-servers.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

/** Runs one preflight against a stand-in and returns the notice, the stand-in's requests and the gateway's folder. */
async function look(options: StandInOptions, changes: Partial<GatewayConfigInput> = {}) {
  const server = await startMcpServer(options);
  const gateway = await startGateway(testConfig({ mcp: { url: server.url }, ...changes }), { open: false });
  await gateway.gateway.preflight();
  const notice = gateway.notices.find((said) => said.notice === "preflight");
  const finished = await gateway.finish();
  const surface = notice?.ok
    ? surfaceSchema.parse(JSON.parse(await readFile(`${gateway.folder}/surface.json`, "utf8")))
    : null;
  await gateway[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  return { notice, surface, finished, seen: server.seen };
}

/** What a survey of a stand-in says of it, its catalog included. */
async function surveyed(options: StandInOptions, knownCatalog: Catalog | null = null) {
  await using server = await startMcpServer(options);
  const request = { url: server.url, catalogUri: "operation://catalog", knownCatalog };
  return await survey(JSON.stringify(request), AbortSignal.timeout(20_000));
}

/** A tools/list handler that serves these pages by cursor; the first has none. */
function pages(
  list: readonly { readonly cursor?: string; readonly names: readonly string[]; readonly next?: string }[],
): StandInOptions {
  return {
    on: {
      "tools/list": ({ id, params }, response) => {
        const page = list.find(({ cursor }) => cursor === params?.cursor);
        const tools = (page?.names ?? []).map((name) => ({ name, inputSchema: { type: "object" } }));
        sendResult(response, id, { tools, ...(page?.next === undefined ? {} : { nextCursor: page.next }) });
      },
    },
  };
}

test("the surface holds server, instructions and tools in name order, with the digest that is said", async () => {
  const { notice, surface, finished, seen } = await look({ stateful: true });
  expect(notice).toMatchObject({ ok: true, code: null, detail: null });
  expect(surface).toEqual({
    schemaVersion: "1",
    server: { name: "stand-in", version: "1.2.3" },
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    instructions: "Use the tools.",
    tools: [
      { name: "math.find", description: "finds", inputSchema: { type: "object" } },
      {
        name: "math.run",
        description: "runs",
        inputSchema: { type: "object", properties: { flag: { type: ["boolean", "null"] } } },
      },
    ],
    catalog: null,
  });
  expect(surface && surfaceDigest(surface)).toBe(notice?.surfaceDigest);
  expect(finished.of("preflight")[0]?.toolPages).toHaveLength(1);
  expect(seen.map(({ method }) => method)).toEqual(["POST", "POST", "POST", "DELETE"]);
  expect(seen[2]?.headers).toMatchObject({ "mcp-session-id": "session-1", "mcp-protocol-version": "2025-11-25" });
});

test("every page of tools counts, and an empty cursor is a cursor", async () => {
  const names = Array.from({ length: 101 }, (_, index) => `tool-${String(index).padStart(3, "0")}`);
  const { surface } = await look(
    pages([
      { names: names.slice(0, 50), next: "" },
      { cursor: "", names: names.slice(50, 100), next: "b" },
      { cursor: "b", names: names.slice(100) },
    ]),
  );
  expect(surface?.tools.map(({ name }) => name)).toEqual(names);
});

test("an empty cursor that comes again is endless paging too", async () => {
  const { notice } = await look(
    pages([
      { names: ["a"], next: "" },
      { cursor: "", names: ["b"], next: "" },
    ]),
  );
  expect(notice).toMatchObject({ ok: false, code: "endless-paging", detail: 'tools/list gave the cursor "" twice' });
});

test("a cursor that comes again is endless paging", async () => {
  const { notice } = await look(
    pages([
      { names: ["a"], next: "x" },
      { cursor: "x", names: ["b"], next: "x" },
    ]),
  );
  expect(notice).toMatchObject({ ok: false, code: "endless-paging", detail: 'tools/list gave the cursor "x" twice' });
});

test("more pages than allowed are endless paging", async () => {
  let page = 0;
  const { notice } = await look(
    {
      on: {
        "tools/list": ({ id }, response) => {
          page += 1;
          sendResult(response, id, { tools: [{ name: `t${page}` }], nextCursor: String(page) });
        },
      },
    },
    { limits: { preflightPages: 5 } },
  );
  expect(notice).toMatchObject({ ok: false, code: "endless-paging", detail: "tools/list has more than 5 pages" });
  expect(page).toBe(5);
});

test("a schema with references, and integers beyond 2^53, are taken as they are", async () => {
  const tool = { name: "t", inputSchema: { maximum: 0 }, outputSchema: { $ref: "#/$defs/R", $defs: { R: {} } } };
  const { surface } = await look({
    on: {
      "tools/list": ({ id }, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const text = JSON.stringify({ jsonrpc: "2.0", id, result: { tools: [tool] } });
        response.end(text.replace('"maximum":0', '"maximum":9223372036854775807'));
      },
    },
  });
  expect(surface?.tools).toEqual([{ ...tool, inputSchema: { maximum: { $integer: "9223372036854775807" } } }]);
});

test("the catalog's digest is over its operations, and equal bytes need no second reading", async () => {
  const text = '{"operations": [{"id": "b"}, {"id": "a"}], "policy": 1}';
  const options: StandInOptions = {
    on: {
      "resources/read": ({ id, params }, response) =>
        sendResult(response, id, { contents: [{ uri: params?.uri, text }] }),
    },
  };
  const first = await surveyed(options);
  const catalog = {
    uri: "operation://catalog",
    digest: digestJson({ operations: [{ id: "b" }, { id: "a" }] }),
    operationCount: 2,
    contentSha256: digestBytes(text),
    contentBytes: Buffer.byteLength(text),
  };
  const { surface } = await look(options);
  expect(first).toEqual({ ok: true, surface: { ...surface, catalog } });
  const known = { ...catalog, operationCount: 77 };
  expect(await surveyed(options, known)).toEqual({ ok: true, surface: { ...surface, catalog: known } });
});

test.each([
  ["a catalog that is no JSON", { contents: [{ text: "{" }] }],
  ["a catalog without operations", { contents: [{ text: "{}" }] }],
  ["a catalog of two parts", { contents: [{ text: "{}" }, { text: "{}" }] }],
])("%s is unreadable", async (_title, result) => {
  const on: StandInOptions["on"] = { "resources/read": ({ id }, response) => sendResult(response, id, result) };
  expect(await surveyed({ on })).toMatchObject({ ok: false, code: "catalog-unreadable" });
});

test.each([
  [401, "unauthorized"],
  [403, "unauthorized"],
  [421, "misdirected"],
  [307, "http-status"],
  [500, "http-status"],
])("a server that answers %i is refused as %s, with its words", async (status, code) => {
  const { notice } = await look({
    on: { initialize: (_message, response) => void response.writeHead(status).end("Invalid Host header") },
  });
  expect(notice).toMatchObject({
    ok: false,
    code,
    detail: `initialize was answered with HTTP ${status}: "Invalid Host header"`,
  });
});

test("a server that answers initialize but not tools/list is a protocol error", async () => {
  const { notice } = await look({
    on: {
      "tools/list": ({ id }, response) => {
        sendEvent(response, { jsonrpc: "2.0", id, error: { code: -32603, message: "broken" } });
        response.end();
      },
    },
  });
  expect(notice).toMatchObject({
    code: "protocol-error",
    detail: "the server answered tools/list with an error: broken",
  });
});

test("a server that never answers is a timeout, and one that is not there is unreachable", async () => {
  const slow = await look({ on: { initialize: () => delay(10) } }, { limits: { preflightMillis: 100 } });
  expect(slow.notice).toMatchObject({ code: "timeout", detail: "no answer to initialize within 100 ms" });
  await using gateway = await startGateway(testConfig({ mcp: { url: "http://127.0.0.1:9/mcp" } }), { open: false });
  await gateway.gateway.preflight();
  expect(gateway.notices.at(-1)).toMatchObject({
    code: "unreachable",
    detail: "initialize could not be sent: the connection was refused",
  });
});

test("a tool that is listed twice is a protocol error", async () => {
  const { notice } = await look(pages([{ names: ["a", "a"] }]));
  expect(notice).toMatchObject({ code: "protocol-error", detail: 'tools/list gave "a" twice' });
});
