import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

/** Sends raw bytes and returns what came back until the connection closed. */
function raw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      text += chunk;
    });
    socket.on("error", () => undefined);
    socket.once("close", () => resolve(text));
  });
}

test("headers beyond the limit are answered with 431 and recorded", async () => {
  await using gateway = await startGateway(testConfig({ limits: { headerBytes: 4096 } }));
  const answer = await raw(gateway.url, `GET /mcp HTTP/1.1\r\nhost: x\r\nx-long: ${"y".repeat(5000)}\r\n\r\n`);
  expect(answer).toContain("HTTP/1.1 431");
  const finished = await gateway.finish();
  expect(finished.of("request-refused")).toMatchObject([{ status: 431 }]);
});

test("bytes that are no HTTP are answered with 400 and recorded", async () => {
  await using gateway = await startGateway(testConfig());
  expect(await raw(gateway.url, "\x16\x03\x01 this is not HTTP\r\n\r\n")).toContain("HTTP/1.1 400");
  const finished = await gateway.finish();
  expect(finished.of("request-refused")).toMatchObject([{ status: 400 }]);
});

test("a change of protocol is refused and recorded", async () => {
  await using gateway = await startGateway(testConfig());
  const upgrade = "GET /v1/responses HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";
  expect(await raw(gateway.url, upgrade)).toContain("HTTP/1.1 400");
  const finished = await gateway.finish();
  expect(finished.of("request-refused")).toMatchObject([{ path: "/v1/responses", status: 400 }]);
});

test("connections beyond the limit are dropped and recorded, and others go on", async () => {
  await using gateway = await startGateway(testConfig({ limits: { connections: 2 } }));
  const { hostname, port } = new URL(gateway.url);
  const held = [connect(Number(port), hostname), connect(Number(port), hostname)];
  await delay(50);
  expect(await raw(gateway.url, "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n")).toBe("");
  for (const socket of held) socket.destroy();
  await delay(50);
  expect((await fetch(`${gateway.url}/nowhere`)).status).toBe(404);
  const finished = await gateway.finish();
  expect(finished.of("request-refused").map(({ status }) => status)).toEqual([503, 404]);
});

test.each(["/mcp", "/v1/chat/completions"])(
  "a body beyond the limit is answered with 413 at %s, declared or not",
  async (path) => {
    const mcp = { url: "http://127.0.0.1:9/mcp" };
    const model = { id: "m", baseUrl: "http://127.0.0.1:9/v1" };
    await using gateway = await startGateway(testConfig({ mcp, model, limits: { requestBytes: 1000 } }));
    const declared = await fetch(`${gateway.url}${path}`, { method: "POST", body: "x".repeat(1001) });
    expect(declared.status).toBe(413);
    const chunk = `3e9\r\n${"x".repeat(1001)}\r\n`;
    const chunked = await raw(
      gateway.url,
      `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n${chunk}`,
    );
    expect(chunked).toContain("HTTP/1.1 413");
  },
);

test("a connection from outside the agent's network is dropped and recorded", async () => {
  await using gateway = await startGateway(testConfig({ agentNetworks: ["10.9.0.0/16", "fd00::/8"] }));
  expect(await raw(gateway.url, "GET /nowhere HTTP/1.1\r\nhost: x\r\n\r\n")).toBe("");
  const finished = await gateway.finish();
  expect(finished.of("request-refused")).toMatchObject([
    { status: 403, detail: "a connection from 127.0.0.1, which is not in the agent's network" },
  ]);
  await using open = await startGateway(testConfig({ agentNetworks: ["10.9.0.0/16", "127.0.0.0/8"] }));
  expect((await fetch(`${open.url}/nowhere`)).status).toBe(404);
});
