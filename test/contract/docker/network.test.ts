import { createServer, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Container } from "../../../runner/docker/container.ts";
import { createInternalNetwork, createOutwardNetwork, type Network } from "../../../runner/docker/network.ts";
import { type Bench, openBench, run } from "../../support/docker.ts";

let bench: Bench;
let host: Server;
let hostPort: number;
let hostAddresses: string[];
let internal: Network;
let other: Network;

const SERVE = `
import socket, threading
server = socket.create_server(("0.0.0.0", 8000))
while True:
    peer, _ = server.accept()
    peer.sendall(b"hello")
    peer.close()
`;

beforeAll(async () => {
  bench = await openBench();
  host = createServer((socket) => socket.end("host"));
  await new Promise<void>((resolve) => host.listen(0, "::", resolve));
  const address = host.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  hostPort = address.port;
  [internal, other] = await Promise.all([
    createInternalNetwork(bench.engine, bench),
    createInternalNetwork(bench.engine, bench),
  ]);
  // A link-local address means nothing without the interface it is tried on.
  hostAddresses = Object.values(networkInterfaces())
    .flatMap((all) => all ?? [])
    .filter((found) => !found.internal)
    .map(({ address }) => (address.startsWith("fe80:") ? `${address}%eth0` : address));
});
afterAll(async () => {
  await bench[Symbol.asyncDispose]();
  host.close();
});

const PROBE = `
import concurrent.futures, json, socket, sys
def attempt(kind, *args):
    try:
        if kind == "tcp":
            family, _, _, _, where = socket.getaddrinfo(args[0], args[1], type=socket.SOCK_STREAM)[0]
            with socket.socket(family, socket.SOCK_STREAM) as s:
                s.settimeout(1)
                s.connect(where)
                said = s.recv(16).decode()
                result = "reached" if said else "closed"
        elif kind == "dns":
            result = "resolved " + socket.getaddrinfo(args[0], 80)[0][4][0]
        elif kind == "udp-dns":
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
                s.settimeout(2)
                query = b"\\x12\\x34\\x01\\x00\\x00\\x01\\x00\\x00\\x00\\x00\\x00\\x00" + b"".join(bytes([len(p)]) + p.encode() for p in args[1].split(".")) + b"\\x00\\x00\\x01\\x00\\x01"
                s.sendto(query, (args[0], 53))
                answer = s.recv(512)
                result = "answered" if answer[3] & 15 == 0 and answer[7] > 0 else "refused %d" % (answer[3] & 15)
        elif kind == "raw":
            socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
            result = "opened"
    except OSError as error:
        result = "failed: " + (error.strerror or str(error))
    return [" ".join(map(str, [kind, *args])), result]
with concurrent.futures.ThreadPoolExecutor(32) as pool:
    print(json.dumps(list(pool.map(lambda probe: attempt(*probe), json.loads(sys.argv[1])))))
`;

type Probe = readonly [kind: string, ...args: (string | number)[]];
interface Outcome {
  readonly probe: string;
  readonly result: string;
}

async function probe(container: Container, probes: readonly Probe[]): Promise<Outcome[]> {
  const { stdout, stderr, exitCode } = await run(container, ["python3", "-c", PROBE, JSON.stringify(probes)]);
  if (exitCode !== 0) throw new Error(stderr);
  const outcomes: [string, string][] = JSON.parse(stdout);
  return outcomes.map(([name, result]) => ({ probe: name, result }));
}

function notFailed(outcomes: readonly Outcome[]): string[] {
  return outcomes
    .filter(({ result }) => !result.startsWith("failed: "))
    .map(({ probe, result }) => `${probe}: ${result}`);
}

async function addressOf(container: Container): Promise<string> {
  const info = await bench.engine.docker.getContainer(container.id).inspect();
  return Object.values(info.NetworkSettings.Networks)[0]?.IPAddress ?? "";
}

async function gatewayOf(network: Network): Promise<string> {
  const info = await bench.engine.docker.getNetwork(network.id).inspect();
  return info.IPAM?.Config?.[0]?.Gateway ?? "";
}

test("an internal network reaches its peers by alias and nothing else: no host, no other network, no metadata, no outside, no raw socket", async () => {
  const server = { command: ["python3", "-c", SERVE] };
  await using peer = await bench.sleeper({ ...server, network: { id: internal.id, aliases: ["peer"] } });
  await using stranger = await bench.sleeper({ ...server, network: { id: other.id, aliases: ["stranger"] } });
  await using agent = await bench.sleeper({ network: { id: internal.id } });
  const outcomes = await probe(agent, [
    ["tcp", "peer", 8000],
    ["tcp", await addressOf(peer), 8000],
    ["tcp", await addressOf(stranger), 8000],
    ["tcp", await gatewayOf(internal), hostPort],
    ["tcp", await gatewayOf(other), hostPort],
    ...hostAddresses.map((address): Probe => ["tcp", address, hostPort]),
    ["tcp", "169.254.169.254", 80],
    ["tcp", "1.1.1.1", 53],
    ["tcp", "2606:4700:4700::1111", 53],
    ["udp-dns", "1.1.1.1", "mirror.example.org"],
    ["dns", "stranger"],
    ["raw"],
  ]);
  expect(notFailed(outcomes)).toEqual(["tcp peer 8000: reached", `tcp ${await addressOf(peer)} 8000: reached`]);
  expect(hostAddresses.length).toBeGreaterThan(0);
});

test("a name server on an internal network forwards nothing outside, and a failing look-up is asked once for one second", async () => {
  await using agent = await bench.sleeper({ network: { id: internal.id } });
  const outcomes = await probe(agent, [
    ["dns", "mirror.example.org"],
    ["dns", "no-such-name"],
    ["udp-dns", "127.0.0.11", "mirror.example.org"],
  ]);
  expect(notFailed(outcomes)).toEqual([]);
  expect((await run(agent, ["cat", "/etc/resolv.conf"])).stdout).toBe(
    "nameserver 127.0.0.11\noptions timeout:1 attempts:1 ndots:0\n",
  );
});

test("an outward network reaches the host by its address, so that the closed one can be told from a deaf host; its containers do not reach each other", async () => {
  const outward = await createOutwardNetwork(bench.engine, bench);
  const server = { command: ["python3", "-c", SERVE] };
  await using peer = await bench.sleeper({ ...server, network: { id: outward.id, aliases: ["peer"] } });
  await using free = await bench.sleeper({ network: { id: outward.id, dns: "open" } });
  const outcomes = await probe(free, [
    ["tcp", await gatewayOf(outward), hostPort],
    ["tcp", await addressOf(peer), 8000],
  ]);
  expect(notFailed(outcomes)).toEqual([`tcp ${await gatewayOf(outward)} ${hostPort}: reached`]);
});

test("a gateway stands in several networks with an alias in each, and forwards no packets", async () => {
  await using gateway = await bench.sleeper({
    command: ["python3", "-c", SERVE],
    network: { id: internal.id, aliases: ["gateway"] },
    networks: [{ id: other.id, aliases: ["upstream"] }],
    sysctls: { "net.ipv4.ip_forward": "0" },
  });
  await using left = await bench.sleeper({ network: { id: internal.id } });
  await using right = await bench.sleeper({ network: { id: other.id } });
  expect(
    notFailed(
      await probe(left, [
        ["tcp", "gateway", 8000],
        ["tcp", "upstream", 8000],
      ]),
    ),
  ).toEqual(["tcp gateway 8000: reached"]);
  expect(notFailed(await probe(right, [["tcp", "upstream", 8000]]))).toEqual(["tcp upstream 8000: reached"]);
  expect((await run(gateway, ["cat", "/proc/sys/net/ipv4/ip_forward"])).stdout).toBe("0\n");
});

test("a gateway reaches outside through its outward network, whatever order its networks come in", async () => {
  const outward = await createOutwardNetwork(bench.engine, bench);
  await using first = await bench.sleeper({
    network: { id: internal.id },
    networks: [{ id: outward.id }, { id: other.id }],
  });
  await using last = await bench.sleeper({ network: { id: outward.id }, networks: [{ id: internal.id }] });
  const outside = hostAddresses.find((address) => !address.includes(":")) ?? "";
  const reached = [`tcp ${outside} ${hostPort}: reached`];
  expect(notFailed(await probe(first, [["tcp", outside, hostPort]]))).toEqual(reached);
  expect(notFailed(await probe(last, [["tcp", outside, hostPort]]))).toEqual(reached);
});

test("a network goes away although a running container is still on it, and twice is once", async () => {
  const network = await createInternalNetwork(bench.engine, bench);
  await using _container = await bench.sleeper({ network: { id: network.id } });
  await network[Symbol.asyncDispose]();
  await network[Symbol.asyncDispose]();
  await expect(bench.engine.docker.getNetwork(network.id).inspect()).rejects.toMatchObject({ statusCode: 404 });
});

test("a running container joins a network under an alias and leaves it", async () => {
  await using network = await createInternalNetwork(bench.engine, bench);
  await using server = await bench.sleeper({ command: ["python3", "-c", SERVE], network: { id: internal.id } });
  await using client = await bench.sleeper({ network: { id: network.id } });
  await network.connect(server.id, { aliases: ["late"] });
  expect(notFailed(await probe(client, [["tcp", "late", 8000]]))).toEqual(["tcp late 8000: reached"]);
  await network.disconnect(server.id);
  expect(notFailed(await probe(client, [["tcp", "late", 8000]]))).toEqual([]);
});
