import { createServer, request as httpRequest } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAllowList } from "../../../runner/gateway/allow-rules.ts";
import { isPublicAddress } from "../../../runner/gateway/public-address.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const site = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () =>
    response.end(`${request.method} ${request.url} ${request.headers.host} ${Buffer.concat(chunks)}`),
  );
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  port = (site.address() as AddressInfo).port;
});
afterAll(() => void site.close());

const lookup = async (host: string) => {
  if (host === "inside.test") return ["127.0.0.1"];
  if (host === "rebound.test") return ["169.254.169.254"];
  throw new Error(`${host} is not known`);
};

interface Answer {
  readonly status: number;
  readonly body: string;
}

function plain(proxy: string, url: string, body = ""): Promise<Answer> {
  const { hostname, port: proxyPort } = new URL(proxy);
  return new Promise((resolve, reject) => {
    const request = httpRequest({
      hostname,
      port: proxyPort,
      path: url,
      method: body === "" ? "GET" : "POST",
      agent: false,
    });
    request.once("error", reject);
    request.once("response", (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }));
    });
    request.end(body);
  });
}

function tunnel(proxy: string, target: string, send = ""): Promise<string> {
  const { hostname, port: proxyPort } = new URL(proxy);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(proxyPort), hostname);
    let text = "";
    socket.setEncoding("utf8");
    socket.on("data", (chunk: string) => {
      if (text === "" && chunk.startsWith("HTTP/1.1 200")) socket.write(send);
      text += chunk;
    });
    socket.once("error", reject);
    socket.once("close", () => resolve(text));
    socket.write(`CONNECT ${target} HTTP/1.1\r\nhost: ${target}\r\n\r\n`);
  });
}

test("allowed hosts are reached by plain HTTP and by CONNECT, others by neither, and every decision is recorded", async () => {
  const allow = [`inside.test:${port}`, `127.0.0.1:${port}`];
  await using gateway = await startGateway(testConfig({ proxy: { allow } }), { lookup });
  expect(await plain(gateway.url, `http://inside.test:${port}/a?b=1`, "body")).toEqual({
    status: 200,
    body: `POST /a?b=1 inside.test:${port} body`,
  });
  const through = await tunnel(
    gateway.url,
    `inside.test:${port}`,
    "GET /t HTTP/1.1\r\nhost: h\r\nconnection: close\r\n\r\n",
  );
  expect(through).toContain("HTTP/1.1 200 Connection Established");
  expect(through).toContain("GET /t h ");
  expect((await plain(gateway.url, "http://outside.test/")).status).toBe(403);
  expect(await tunnel(gateway.url, "outside.test:443")).toContain("403");
  expect(await tunnel(gateway.url, "inside.test:22")).toContain("403");
  const finished = await gateway.finish();
  expect(
    finished
      .of("proxy")
      .map(({ method, host, port: to, allowed, reason }) => [method, host, to === port, allowed, reason]),
  ).toEqual([
    ["POST", "inside.test", true, true, "allowed"],
    ["CONNECT", "inside.test", true, true, "allowed"],
    ["GET", "outside.test", false, false, "no rule names this host and port"],
    ["CONNECT", "outside.test", false, false, "no rule names this host and port"],
    ["CONNECT", "inside.test", false, false, "no rule names this host and port"],
  ]);
  expect(finished.of("proxy-end")).toMatchObject([{ ended: "complete" }, { ended: "complete" }]);
});

test("a name that resolves to an address that is not public is refused, unless a rule names the address", async () => {
  await using gateway = await startGateway(
    testConfig({ proxy: { allow: [`inside.test:${port}`, "rebound.test", "*.unknown.test"] } }),
    { lookup },
  );
  expect((await plain(gateway.url, `http://inside.test:${port}/`)).status).toBe(403);
  expect((await plain(gateway.url, "http://rebound.test/")).status).toBe(403);
  expect((await plain(gateway.url, "http://a.unknown.test/")).status).toBe(403);
  const finished = await gateway.finish();
  expect(finished.of("proxy").map(({ rule, reason }) => [rule, reason])).toEqual([
    [`inside.test:${port}`, "not a public address, and no rule names it: 127.0.0.1"],
    ["rebound.test", "not a public address, and no rule names it: 169.254.169.254"],
    ["*.unknown.test", "the name cannot be resolved: a.unknown.test is not known"],
  ]);
});

test("without an allow-list there is no proxy, and attempts are recorded", async () => {
  await using gateway = await startGateway(testConfig());
  expect(await tunnel(gateway.url, "inside.test:443")).toContain("405");
  expect((await plain(gateway.url, "http://inside.test/")).status).toBe(404);
  const finished = await gateway.finish();
  expect(finished.of("request-refused").map(({ method, path }) => [method, path])).toEqual([
    ["CONNECT", "inside.test:443"],
    ["GET", "http://inside.test/"],
  ]);
});

test.each([
  ["example.org", "example.org", 443, true],
  ["example.org", "a.example.org", 443, false],
  ["example.org", "example.org", 8080, false],
  ["example.org:8080", "example.org", 8080, true],
  ["example.org:8080", "example.org", 443, false],
  ["*.example.org", "a.b.example.org", 80, true],
  ["*.example.org", "example.org", 80, false],
  ["*.example.org", "badexample.org", 80, false],
  ["192.0.2.0/24", "192.0.2.77", 443, true],
  ["192.0.2.0/24", "192.0.3.1", 443, false],
  ["[2001:db8::]/32", "2001:db8::1", 443, false],
  ["2001:db8::/32", "2001:db8::1", 443, true],
  ["[2001:db8::1]:8443", "2001:db8::1", 8443, true],
])("the rule %s judges %s at port %i as %s", (rule, host, to, allowed) => {
  const judge = () => readAllowList([rule]).byName(host, to) !== null;
  if (rule.startsWith("[2001:db8::]/")) expect(judge).toThrow(/is no host, \*\.host, address or CIDR block/);
  else expect(judge()).toBe(allowed);
});

test.each(["", "http://example.org", "exa mple.org", "*.", "example.org:0", "example.org:70000", "1.2.3.4/40", "*"])(
  "the rule %j is refused",
  (rule) => {
    expect(() => readAllowList([rule])).toThrow(/is no host, \*\.host, address or CIDR block/);
  },
);

test.each([
  ["8.8.8.8", true],
  ["10.1.2.3", false],
  ["127.0.0.1", false],
  ["169.254.169.254", false],
  ["100.100.100.200", false],
  ["172.17.0.1", false],
  ["192.168.1.1", false],
  ["0.0.0.0", false],
  ["2606:4700::1111", true],
  ["::1", false],
  ["fd00::1", false],
  ["fe80::1", false],
  ["::ffff:10.0.0.1", false],
  ["::ffff:8.8.8.8", true],
  ["64:ff9b::a00:1", false],
])("%s is public: %s", (address, expected) => {
  expect(isPublicAddress(address)).toBe(expected);
});
