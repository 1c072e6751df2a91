import { request as httpRequest } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import { bodyBytes } from "../../../runner/trace/trace-bodies.ts";
import { sendEvent, sendResult, startMcpServer, toolResult } from "../../support/mcp-servers.ts";
import { type FinishedGateway, startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const ACCEPT = { "content-type": "application/json", accept: "application/json, text/event-stream" };

function call(id: number, tool: string, given: object = {}): string {
  return JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: tool, arguments: given } });
}

/** What the trace kept of one direction of an exchange, joined. */
function recorded(finished: FinishedGateway, exchange: string, to: "server" | "agent"): Buffer {
  const frames = finished.of("mcp-frame").filter((frame) => frame.exchange === exchange && frame.to === to);
  return Buffer.concat(frames.map(({ body }) => Buffer.from(bodyBytes(body, finished.readObject) as Uint8Array)));
}

test("frames pass byte for byte when they come one byte at a time, and the trace holds the same bytes", async () => {
  const wire = Buffer.from(
    `event: message\r\ndata: {"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"—✅读"}],"structuredContent":{"id":1915883588174806058,"n":9007199254740993, "z":1,"a":2}}}\r\n\r\n`,
  );
  await using server = await startMcpServer({
    on: {
      "tools/call": async (_message, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.socket?.setNoDelay(true);
        for (const byte of wire) {
          response.write(Buffer.from([byte]));
          await delay(0);
        }
        response.end();
      },
    },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const sent = ` {"jsonrpc":"2.0", "id":1,"method":"tools/call","params":{"name":"math.run","arguments":{"n":12345678901234567890}}}`;
  const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: sent });
  const received = Buffer.from(await answer.arrayBuffer());
  expect(received.equals(wire)).toBe(true);
  expect(server.seen[0]?.body.toString()).toBe(sent);
  const finished = await gateway.finish();
  expect(recorded(finished, "x1", "agent").equals(wire)).toBe(true);
  expect(recorded(finished, "x1", "server").toString()).toBe(sent);
  expect(finished.of("mcp-end")).toMatchObject([
    {
      ended: "complete",
      toAgent: { bytes: wire.length, digest: digestBytes(wire) },
      toServer: { bytes: Buffer.byteLength(sent) },
    },
  ]);
});

test("the tool list that reaches the agent has the server's bytes, whatever its schemas hold", async () => {
  const tools = [
    {
      name: "math.run",
      inputSchema: { type: "object", properties: { flag: { type: ["boolean", "null"] }, any: {} } },
      outputSchema: { $ref: "#/$defs/R", $defs: { R: { type: "object" } } },
    },
  ];
  await using server = await startMcpServer({ tools });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const body = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/list", params: {} });
  const direct = await (await fetch(server.url, { method: "POST", headers: ACCEPT, body })).text();
  const through = await (await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body })).text();
  expect(through).toBe(direct);
});

test("session, protocol and event-id headers pass, the host is the server's, and hop-by-hop headers stay", async () => {
  await using server = await startMcpServer({
    stateful: true,
    on: {
      GET: (_message, response) => {
        sendEvent(response, { jsonrpc: "2.0", method: "notifications/message" });
        response.end();
      },
    },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const headers = { ...ACCEPT, "mcp-session-id": "session-1", "mcp-protocol-version": "2025-06-18", "x-own": "kept" };
  const begun = await fetch(`${gateway.url}/mcp`, {
    method: "POST",
    headers: ACCEPT,
    body: JSON.stringify({ jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-06-18" } }),
  });
  expect(begun.headers.get("mcp-session-id")).toBe("session-1");
  await begun.text();
  const stream = await fetch(`${gateway.url}/mcp?x=1`, { headers: { ...headers, "last-event-id": "e9" } });
  expect(await stream.text()).toContain("notifications/message");
  expect((await fetch(`${gateway.url}/mcp`, { method: "DELETE", headers })).status).toBe(200);
  const get = server.seen.find(({ method }) => method === "GET");
  expect(get?.url).toBe("/mcp?x=1");
  expect(get?.headers).toMatchObject({
    "mcp-session-id": "session-1",
    "mcp-protocol-version": "2025-06-18",
    "last-event-id": "e9",
    "x-own": "kept",
    host: new URL(server.url).host,
  });
  const finished = await gateway.finish();
  expect(finished.of("mcp-request").map(({ method }) => method)).toEqual(["POST", "GET", "DELETE"]);
});

test("a tool error with structured content reaches the agent untouched", async () => {
  const result = {
    content: [{ type: "text", text: "no" }],
    structuredContent: { error: { code: "X" } },
    isError: true,
  };
  await using server = await startMcpServer({
    on: { "tools/call": ({ id }, response) => sendResult(response, id, result) },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const text = await (
    await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: call(1, "math.run") })
  ).text();
  expect(JSON.parse(text.split("data: ")[1] ?? "")).toEqual({ jsonrpc: "2.0", id: 1, result });
});

test("progress keeps a client's call alive through the gateway, and the progress token reaches the server", async () => {
  let token: unknown;
  await using server = await startMcpServer({
    on: {
      "tools/call": async ({ id, params }, response) => {
        token = (params?._meta as { progressToken?: unknown } | undefined)?.progressToken;
        for (let step = 1; step <= 6; step += 1) {
          sendEvent(response, {
            jsonrpc: "2.0",
            method: "notifications/progress",
            params: { progressToken: token, progress: step },
          });
          await delay(150);
        }
        sendResult(response, id, toolResult({ done: true }));
      },
    },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  const steps: number[] = [];
  const result = await client.callTool({ name: "math.run", arguments: {} }, undefined, {
    timeout: 500,
    resetTimeoutOnProgress: true,
    onprogress: ({ progress }) => steps.push(progress),
  });
  expect(result.structuredContent).toEqual({ done: true });
  expect(steps).toEqual([1, 2, 3, 4, 5, 6]);
  expect(token).toBeDefined();
  await client.close();
});

test("a call that the agent cancels is sent once, and its late answer is recorded as late", async () => {
  let counter = 0;
  const cancelled = manual();
  await using server = await startMcpServer({
    on: {
      "tools/call": async ({ id }, response) => {
        counter += 1;
        await cancelled.promise;
        sendResult(response, id, toolResult({ counter }));
      },
      "notifications/cancelled": (_message, response) => {
        response.writeHead(202).end();
        cancelled.resolve();
      },
    },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const client = new Client({ name: "test", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
  await expect(client.callTool({ name: "math.run", arguments: {} }, undefined, { timeout: 200 })).rejects.toThrow(
    /timed out/,
  );
  await cancelled.promise;
  const deadline = Date.now() + 5000;
  while (Date.now() < deadline && !(await hasLateFrame(gateway.folder))) await delay(20);
  await client.close();
  expect(counter).toBe(1);
  const finished = await gateway.finish();
  expect(finished.of("mcp-frame").filter(({ late }) => late)).toHaveLength(1);
});

test("an agent that goes away cancels the exchange at the server", async () => {
  const closed = manual();
  await using server = await startMcpServer({
    on: { "tools/call": (_message, response) => void response.once("close", () => closed.resolve()) },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const abort = new AbortController();
  const pending = fetch(`${gateway.url}/mcp`, {
    method: "POST",
    headers: ACCEPT,
    body: call(1, "math.run"),
    signal: abort.signal,
  });
  while (server.seen.length === 0) await delay(5);
  abort.abort();
  await expect(pending).rejects.toThrow();
  await closed.promise;
  const finished = await gateway.finish();
  expect(finished.of("mcp-end")).toMatchObject([{ ended: "agent-gone" }]);
});

test("a server that cannot be reached is answered with 502, recorded, and said once", async () => {
  await using gateway = await startGateway(testConfig({ mcp: { url: "http://127.0.0.1:9/mcp" } }));
  for (const id of [1, 2]) {
    const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: call(id, "math.run") });
    expect(answer.status).toBe(502);
  }
  expect(gateway.notices.filter(({ notice }) => notice === "mcp-failed")).toHaveLength(1);
  const finished = await gateway.finish();
  expect(finished.of("mcp-end").map(({ ended }) => ended)).toEqual(["upstream-failed", "upstream-failed"]);
});

test("a server that breaks off in the middle of an answer breaks the agent's answer off too", async () => {
  await using server = await startMcpServer({
    on: {
      "tools/call": (_message, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write("event: message\r\nda");
        setTimeout(() => response.destroy(), 50);
      },
    },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: call(1, "math.run") });
  await expect(answer.text()).rejects.toThrow();
  const finished = await gateway.finish();
  expect(finished.of("mcp-end")).toMatchObject([{ ended: "upstream-failed" }]);
  expect(recorded(finished, "x1", "agent").toString()).toBe("event: message\r\nda");
});

test("in control there is no MCP route, and an attempt is recorded with its bytes", async () => {
  await using gateway = await startGateway(
    testConfig({ scope: { task: "task-1", condition: "control", repetition: 1 } }),
  );
  const body = call(1, "math.run");
  const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body });
  expect([answer.status, await answer.json()]).toEqual([404, { error: "not found" }]);
  const finished = await gateway.finish();
  expect(finished.of("mcp-refused")).toMatchObject([{ reason: "control", status: 404, body: { text: body } }]);
});

test("before the agent starts and after it ended, no request passes", async () => {
  await using server = await startMcpServer();
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }), { open: false });
  const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: call(1, "math.run") });
  expect(answer.status).toBe(503);
  gateway.gateway.agentStarted();
  await gateway.gateway.agentEnded();
  await expect(
    fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: call(2, "math.run") }),
  ).rejects.toThrow();
  expect(server.seen).toHaveLength(0);
});

test("the budget of tool calls stops the call beyond it before it reaches the server", async () => {
  await using server = await startMcpServer({
    on: { "tools/call": ({ id }, response) => sendResult(response, id, toolResult({})) },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url }, budgets: { toolCalls: 3 } }));
  const answers = await Promise.all(
    Array.from({ length: 8 }, async (_, index) => {
      const answer = await fetch(`${gateway.url}/mcp`, {
        method: "POST",
        headers: ACCEPT,
        body: call(index, "math.run"),
      });
      await answer.text();
      return answer.status;
    }),
  );
  expect(answers.toSorted()).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
  expect(server.seen).toHaveLength(3);
  expect(gateway.notices).toContainEqual({ notice: "budget-exhausted", budget: "toolCalls", limit: 3, used: 3 });
  const finished = await gateway.finish();
  expect(finished.of("mcp-refused").map(({ reason }) => reason)).toEqual(Array(5).fill("budget"));
  expect(finished.of("end")[0]?.counts.mcpToolCalls).toBe(3);
});

test("a body that only a laxer reader takes for a call counts as one", async () => {
  await using server = await startMcpServer({
    on: { "tools/call": ({ id }, response) => sendResult(response, id, toolResult({})) },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url }, budgets: { toolCalls: 1 } }));
  const body = call(1, "math.run").replace('"id":1', '"id":0,"id":1');
  const post = () => fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body });
  expect([(await post()).status, (await post()).status]).toEqual([200, 429]);
});

test("a server's address with a query of its own keeps it before the agent's", async () => {
  await using server = await startMcpServer();
  await using gateway = await startGateway(testConfig({ mcp: { url: `${server.url}?tenant=a` } }));
  await fetch(`${gateway.url}/mcp?b=1`, { method: "POST", headers: ACCEPT, body: call(1, "math.run") });
  expect(server.seen[0]?.url).toBe("/mcp?tenant=a&b=1");
});

test("a request body that is no JSON-RPC passes unchanged and is recorded as it is", async () => {
  await using server = await startMcpServer({
    on: { "": (_message, response) => void response.writeHead(400).end("what?") },
  });
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  const answer = await fetch(`${gateway.url}/mcp`, { method: "POST", headers: ACCEPT, body: '{"a":1,"a":2}' });
  expect([answer.status, await answer.text()]).toEqual([400, "what?"]);
  const finished = await gateway.finish();
  expect(recorded(finished, "x1", "server").toString()).toBe('{"a":1,"a":2}');
});

test("a client that sends its headers for too long is dropped", async () => {
  await using gateway = await startGateway(testConfig({ limits: { requestMillis: 300 } }));
  const { hostname, port } = new URL(gateway.url);
  const client = httpRequest({ hostname, port, method: "POST", path: "/mcp", headers: { "content-length": 100 } });
  client.write("x");
  const status = await new Promise<number | string>((resolve) => {
    client.once("response", (response) => resolve(response.statusCode ?? 0));
    client.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? "error"));
  });
  expect([408, "ECONNRESET"]).toContain(status);
});

function manual(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

async function hasLateFrame(folder: string): Promise<boolean> {
  const { readFile } = await import("node:fs/promises");
  return (await readFile(`${folder}/trace.jsonl`, "utf8")).includes('"late":true');
}
