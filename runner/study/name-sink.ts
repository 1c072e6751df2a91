import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { createContainer } from "../docker/container.ts";
import type { Network } from "../docker/network.ts";
import { ownerLabels } from "../docker/ownership.ts";
import type { SharedWorld } from "../trial/world.ts";

/** A container beside an agent that answers every look-up with its own address and notes what then comes. */
export interface NameSink extends AsyncDisposable {
  /** Its address on the agent's network. */
  readonly address: string;
  /** Hosts that were looked up or connected to so far, sorted: `name`, and `name:port` where a connection named it. */
  readonly hosts: () => string[];
}

/** Ports whose connections are taken; a look-up shows the other attempts. */
const PORTS = [80, 443, 8080, 4317, 4318];

const PROGRAM = `
const dgram = require("node:dgram");
const net = require("node:net");
const os = require("node:os");
const own = Object.values(os.networkInterfaces()).flat().find((entry) => entry.family === "IPv4" && !entry.internal).address;
const say = (entry) => process.stdout.write(JSON.stringify(entry) + "\\n");
const names = dgram.createSocket("udp4");
names.on("message", (query, from) => {
  const labels = [];
  let at = 12;
  while (at < query.length && query[at] !== 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + query[at]));
    at += query[at] + 1;
  }
  if (at + 5 > query.length) return;
  const type = query.readUInt16BE(at + 1);
  say({ host: labels.join("."), port: null });
  const head = Buffer.from(query.subarray(0, 12));
  head.writeUInt16BE(0x8180, 2);
  head.writeUInt16BE(type === 1 ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 5, 0, 4, ...own.split(".").map(Number)]);
  names.send(Buffer.concat([head, query.subarray(12, at + 5), ...(type === 1 ? [answer] : [])]), from.port, from.address);
});
const serverName = (hello) => {
  // The extension for a server's name: 0000, its length, the list's, 00, the name's length.
  const text = hello.toString("latin1");
  const found = /\\0\\0[^]{2}[^]{2}\\0[^]{2}([A-Za-z0-9.-]{3,253})/.exec(text);
  return found === null ? "?" : found[1];
};
for (const port of ${JSON.stringify(PORTS)}) {
  net.createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (first) => {
      const host = /^host: *([^\\s:]+)/im.exec(first.toString("latin1"));
      say({ host: host === null ? serverName(first) : host[1], port });
      socket.destroy();
    });
  }).listen(port, "0.0.0.0");
}
names.bind(53, "0.0.0.0", () => say({ ready: own }));
`;

/** Starts one on a network. `image` has Node. */
export async function startNameSink(
  world: SharedWorld,
  network: Network,
  image: Digest,
  signal: AbortSignal,
): Promise<NameSink> {
  const container = await createContainer(
    world.engine,
    {
      image,
      entrypoint: ["node"],
      command: ["-e", PROGRAM],
      labels: ownerLabels(world.owner, { run: world.runId, role: "name-sink" }),
      network: { id: network.id },
      capAdd: ["NET_BIND_SERVICE"],
      limits: { memoryBytes: 256 * 1024 * 1024, pids: 64 },
    },
    { signal },
  );
  try {
    const seen: { readonly host: string; readonly port: number | null }[] = [];
    let torn = "";
    let tell: (address: string) => void = () => undefined;
    const ready = new Promise<string>((resolve) => {
      tell = resolve;
    });
    const read = (chunk: Uint8Array): void => {
      const lines = (torn + Buffer.from(chunk).toString("utf8")).split("\n");
      torn = lines.pop() ?? "";
      for (const line of lines) {
        const entry = JSON.parse(line) as { ready?: string; host: string; port: number | null };
        if (entry.ready !== undefined) tell(entry.ready);
        else seen.push(entry);
      }
    };
    let words = "";
    const note = (chunk: Uint8Array): void => {
      words = (words + Buffer.from(chunk).toString("utf8")).slice(-2000);
    };
    const { ended } = await container.attach({ stdout: read, stderr: note });
    await container.start({ signal });
    const address = await Promise.race([ready, ended.then(() => undefined)]);
    if (address === undefined)
      throw new RunnerError("environment", "NAME_SINK", `the name server for the check did not start: ${words.trim()}`);
    ended.catch(() => undefined);
    return {
      address,
      hosts: () => [...new Set(seen.map(({ host, port }) => (port === null ? host : `${host}:${port}`)))].sort(),
      [Symbol.asyncDispose]: () => container[Symbol.asyncDispose](),
    };
  } catch (thrown) {
    await container[Symbol.asyncDispose]();
    throw thrown;
  }
}
