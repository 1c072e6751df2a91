import { connect, createServer, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createContainer } from "../../../runner/docker/container.ts";
import { connectEngine, type Engine } from "../../../runner/docker/engine.ts";
import { type Bench, openBench, shell } from "../../support/docker.ts";

let bench: Bench;
let proxy: Server;
let remote: Engine;
const sockets = new Set<Socket>();
/** Requests whose answers are not passed on, as by a middlebox that forgot the connection: nothing comes, and nothing ends. */
let swallowed: RegExp | undefined;

beforeAll(async () => {
  bench = await openBench();
  const { endpoint } = bench.engine;
  if (endpoint.kind !== "unix") throw new Error("this test stands before a local engine");
  proxy = createServer((client) => {
    const server = connect(endpoint.socketPath);
    let deaf = false;
    let head = "";
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on("error", () => undefined);
    }
    client.on("data", (bytes) => {
      if (swallowed?.test(String(bytes))) deaf = true;
      server.write(bytes);
    });
    server.on("data", (bytes) => {
      if (!deaf) return void client.write(bytes);
      // An upgraded connection is confirmed before it goes silent; the engine writes its confirmation in parts.
      const before = head.length;
      if (head.includes("\r\n\r\n")) return;
      head += bytes.toString("latin1");
      const end = head.indexOf("\r\n\r\n");
      const passed = end === -1 ? head : head.slice(0, end + 4);
      if (head.startsWith("HTTP/1.1 101")) client.write(Buffer.from(passed.slice(before), "latin1"));
    });
    server.on("end", () => {
      if (!deaf) client.end();
    });
    client.on("close", () => server.destroy());
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const address = proxy.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  remote = await connectEngine({ env: { DOCKER_HOST: `tcp://127.0.0.1:${address.port}` } });
});
afterAll(async () => {
  await remote[Symbol.asyncDispose]();
  for (const socket of sockets) socket.destroy();
  proxy.close();
  await bench[Symbol.asyncDispose]();
});

const spec = () => ({ image: bench.image, labels: bench.labels, network: "none", entrypoint: [] }) as const;

test("an engine behind a TCP address works as a local one", async () => {
  swallowed = undefined;
  await using container = await createContainer(remote, { ...spec(), command: ["sleep", "600"] });
  await container.start();
  expect(await shell(container, "echo there; exit 3")).toMatchObject({
    stdout: "there\n",
    exitCode: 3,
    endedBy: "self",
  });
});

test("a command on a connection that went silent still gives its exit code, and the output is known to be cut (C17)", async () => {
  await using container = await createContainer(remote, { ...spec(), command: ["sleep", "600"] });
  await container.start();
  swallowed = /POST \S*\/exec\/\S+\/start/;
  expect(await shell(container, "sleep 1; echo lost; exit 7")).toMatchObject({
    stdout: "",
    exitCode: 7,
    endedBy: "self",
    outputEnded: false,
  });
});

test("the end of a container is noticed although the connection that waits for it went silent (C17)", async () => {
  await using container = await createContainer(remote, { ...spec(), command: ["sh", "-c", "exit 7"] });
  swallowed = /POST \S*\/wait/;
  await container.start();
  expect(await container.wait()).toMatchObject({ status: "exited", exitCode: 7 });
});
