import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createInternalNetwork } from "../../runner/docker/network.ts";
import { type Bench, openBench } from "../support/docker.ts";
import {
  leftOf,
  NO_NETWORK,
  oracle,
  readObject,
  recordsOf,
  runLines,
  scratch,
  sh,
  writeBundle,
} from "../support/e2e.ts";
import { execute, rowLines, talk, writeStudy } from "../support/e2e-study.ts";

/** What the host listens on, for whoever reaches it. */
let host: Server;
let port: number;
let bench: Bench;
let bridge: string;
let dir: string;
let remove: () => Promise<void>;
const asked: string[] = [];

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  host = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? "no key"}`);
    const chunks: Buffer[] = [];
    request
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("end", () => provide(Buffer.concat(chunks).toString(), response));
  });
  await new Promise<void>((resolve) => host.listen(0, "0.0.0.0", resolve));
  port = (host.address() as AddressInfo).port;
  bench = await openBench();
  const { IPAM: pool } = await bench.engine.docker.getNetwork("bridge").inspect();
  bridge = pool?.Config?.[0]?.Gateway ?? "172.17.0.1";
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  host.closeAllConnections();
  await new Promise((resolve) => host.close(resolve));
  await remove();
});

/** Answers a chat request by what its instruction says: a status, or a word. */
function provide(body: string, response: import("node:http").ServerResponse): void {
  const status = Number(/answer with status ([0-9]+)/.exec(body)?.[1] ?? 200);
  const error = { error: { type: "server_error", message: `status ${status} for ever` } };
  const answer = {
    id: "1",
    object: "chat.completion",
    model: "stand-in",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "I decline." } }],
    usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
  };
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(status === 200 ? answer : error));
}

/** Tries to get out of the agent's container and prints what was reached, as JSON. */
function canary(targets: readonly string[]): string {
  return `python3 - <<'END'
import json, socket, urllib.request, urllib.error
reached = {}
def attempt(name, work):
    try: reached[name] = work()
    except Exception as error: reached[name] = "no: " + type(error).__name__
def tcp(address, port, family=socket.AF_INET):
    def work():
        with socket.socket(family, socket.SOCK_STREAM) as s:
            s.settimeout(1.5); s.connect((address, port)); return "REACHED"
    return work
def dns(server):
    def work():
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.settimeout(1.5)
            s.sendto(bytes.fromhex("123401000001000000000000076578616d706c6503636f6d0000010001"), (server, 53))
            return "ANSWER" if s.recv(512)[3] & 15 == 0 else "no: refused"
    return work
for target in ${JSON.stringify(targets)}:
    address, _, port = target.rpartition(":")
    attempt(target, tcp(address, int(port)))
attempt("link-local v6", tcp("fe80::1", 80, socket.AF_INET6))
attempt("public v6", tcp("2001:4860:4860::8888", 53, socket.AF_INET6))
attempt("outside name", lambda: socket.gethostbyname("example.com"))
attempt("server's name", lambda: socket.gethostbyname("standin"))
attempt("embedded dns", dns("127.0.0.11"))
for line in open("/etc/resolv.conf"):
    if line.startswith("nameserver"): attempt("nameserver " + line.split()[1], dns(line.split()[1]))
attempt("raw socket", lambda: str(socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)))
attempt("packet socket", lambda: str(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 3)))
reached["v6 addresses"] = [line.split()[0] for line in open("/proc/net/if_inet6") if not line.startswith("0" * 31)] if __import__("os").path.exists("/proc/net/if_inet6") else []
own = socket.gethostbyname(socket.gethostname()).split(".")
attempt("first address of the subnet", tcp(".".join(own[:3] + ["1"]), ${port}))
def gateway():
    try: return urllib.request.urlopen("http://gateway:8080/", timeout=5).status
    except urllib.error.HTTPError as error: return error.code
attempt("gateway", gateway)
print(json.dumps(reached))
END`;
}

test("a model-driven agent reaches its gateway and nothing else, in control and in treatment", async () => {
  await using network = await createInternalNetwork(bench.engine, { labels: bench.labels });
  const other = await bench.container({
    entrypoint: [],
    command: ["node", "-e", "require('node:http').createServer((q, s) => s.end()).listen(8080)"],
    network: { id: network.id },
  });
  await other.start();
  const { NetworkSettings: seen } = await bench.engine.docker.getContainer(other.id).inspect();
  const neighbour = Object.values(seen.Networks)[0]?.IPAddress ?? "";
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  const outward = addresses
    .filter(({ family, internal }) => family === "IPv4" && !internal)
    .map(({ address }) => address);
  const targets = [...new Set([bridge, ...outward])].map((address) => `${address}:${port}`);
  const all = [...targets, `${neighbour}:8080`, "169.254.169.254:80", "8.8.8.8:53", "127.0.0.1:8000"];

  const dataset = join(dir, "canary");
  await writeBundle(dataset, "e2e-canary");
  expect((await oracle(dataset, join(dir, "canary-oracle"))).code).toBe(0);
  const study = await writeStudy(join(dir, "canary-study"), {
    dataset,
    tasks: ["e2e-canary"],
    conversations: [talk("e2e-canary", canary(all), "echo 42 > /app/answer.txt")],
  });
  const { code, result } = await execute(study, "both", join(dir, "canary-out"));
  expect([code, rowLines(result)]).toEqual([0, ["e2e-canary control: scored 1", "e2e-canary treatment: scored 1"]]);
  for (const { dir: bundle } of result.runs) {
    const [record] = await recordsOf(bundle);
    const head = record?.steps[0]?.agentOutput?.stdout.head;
    const said = head === undefined ? "" : (await readObject(bundle, head)).toString("utf8");
    const text = said
      .split("\n")
      .flatMap((line) => (line.includes('"tool-result"') ? [JSON.parse(line) as { text: string }] : []))[0]?.text;
    const {
      gateway,
      "v6 addresses": v6,
      ...others
    } = JSON.parse(text?.split("\n")[1] ?? "{}") as Record<string, unknown>;
    expect(gateway).toBe(404);
    expect(v6).toEqual([]);
    expect(Object.keys(others).length).toBeGreaterThanOrEqual(all.length + 8);
    expect(
      Object.entries(others).filter(([, found]) => typeof found !== "string" || !found.startsWith("no: ")),
    ).toEqual([]);
  }
  // The targets are there: it is the network that keeps the agent from them.
  expect(asked).toEqual([]);
  const { stdout } = await execa("curl", [
    "--silent",
    "--output",
    "/dev/null",
    "--write-out",
    "%{http_code}",
    `http://${bridge}:${port}/`,
  ]);
  expect(stdout).toBe("200");
  asked.length = 0;
});

test("an allow-list lets its hosts through the proxy and nothing else, and without one there is no network at all", async () => {
  const seen: string[] = [];
  const web = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.end("here");
  });
  // A rule without a port means 80 and 443.
  await new Promise<void>((resolve, reject) => web.once("error", reject).listen(80, bridge, resolve));
  try {
    await allowed();
    expect(seen).toEqual(["GET /allowed"]);
  } finally {
    web.closeAllConnections();
    web.close();
  }
});

async function allowed(): Promise<void> {
  const dataset = join(dir, "allow");
  const fetches = sh(
    `code() { curl --silent --max-time 5 --output /dev/null --write-out '%{http_code}' "$@"; }`,
    `echo "$(code http://${bridge}/allowed) $(code --noproxy '*' http://${bridge}/direct) $(code http://203.0.113.9/) $(code --proxytunnel http://${bridge}:22/)" > /app/answer.txt`,
  );
  const listed = (hosts: string) =>
    `[agent]\nnetwork_mode = "allowlist"\nallowed_hosts = ${hosts}\n[verifier]\nnetwork_mode = "no-network"\n${NO_NETWORK}`;
  const expected = (codes: string) =>
    sh(
      `if [ "$(cat /app/answer.txt)" = "${codes}" ]; then echo 1; else echo 0; fi > /logs/verifier/reward.txt; cat /app/answer.txt`,
    );
  await writeBundle(dataset, "e2e-listed", {
    toml: listed(`["${bridge}"]`),
    solve: fetches,
    test: expected("200 000 403 000"),
  });
  await writeBundle(dataset, "e2e-none", { solve: fetches, test: expected("000 000 000 000") });
  const { result } = await oracle(dataset, join(dir, "allow-out"));
  expect(result.tasks.map(({ task, problems }) => [task, problems])).toEqual([
    ["e2e-listed", []],
    ["e2e-none", []],
  ]);
  expect(result.tasks.map(runLines)).toEqual([
    ["oracle: scored 1", "nop: scored 0"],
    ["oracle: scored 1", "nop: scored 0"],
  ]);
  expect(await leftOf(result.runId)).toEqual([]);
}

test("a provider that fails is no agent's failure, a model that declines is; the key reaches the provider and no evidence", async () => {
  const key = "sk-e2e-0123456789abcdef";
  const dataset = join(dir, "live");
  const statuses = ["401", "429", "500"];
  for (const status of statuses) {
    await writeBundle(dataset, `e2e-status-${status}`, { instruction: `Please answer with status ${status}.\n` });
  }
  await writeBundle(dataset, "e2e-declines", { instruction: "Decline.\n" });
  const tasks = ["e2e-declines", ...statuses.map((status) => `e2e-status-${status}`)];
  expect((await oracle(dataset, join(dir, "live-oracle"))).code).toBe(0);
  const live = (baseUrl: string) => ({ id: "stand-in", api: "chat", baseUrl, apiKeyEnv: "E2E_KEY" });
  const study = await writeStudy(join(dir, "live-study"), {
    dataset,
    tasks,
    model: live(`http://${bridge}:${port}/v1`),
  });
  const { code, result } = await execute(study, "control", join(dir, "live-out"), { env: { E2E_KEY: key } });
  expect([code, rowLines(result)]).toEqual([
    1,
    [
      "e2e-declines control: scored 0",
      ...statuses.map((status) => `e2e-status-${status} control: provider_error PROVIDER_STATUS`),
    ],
  ]);
  expect(asked.sort()).toEqual(Array(4).fill(`POST /v1/chat/completions Bearer ${key}`));
  const { stdout: found } = await execa("grep", ["--recursive", "--files-with-matches", key, join(dir, "live-out")], {
    reject: false,
  });
  expect(found).toBe("");

  const dead = await writeStudy(join(dir, "dead-study"), {
    dataset,
    tasks: ["e2e-declines"],
    model: live(`http://${bridge}:9/v1`),
  });
  const unreachable = await execute(dead, "control", join(dir, "dead-out"), { env: { E2E_KEY: key } });
  expect([unreachable.code, rowLines(unreachable.result)]).toEqual([
    1,
    ["e2e-declines control: provider_error PROVIDER_UNREACHABLE"],
  ]);
});
