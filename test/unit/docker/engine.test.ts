import { chmod, mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { afterEach, expect, test } from "vitest";
import { endpointOf } from "../../../runner/docker/endpoint.ts";
import { connectEngine, negotiate } from "../../../runner/docker/engine.ts";
import { ensureEngine } from "../../../runner/docker/ensure-engine.ts";

const cleanups: (() => Promise<unknown> | unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function socketPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "engine-"));
  cleanups.push(() => rm(folder, { recursive: true }));
  return join(folder, "docker.sock");
}

async function serve(answer: RequestListener): Promise<string> {
  const path = await socketPath();
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  cleanups.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return path;
}

const at = (path: string) => ({ env: { DOCKER_HOST: `unix://${path}` } });

test("no socket, a socket nobody serves, and a server that is no engine are told apart", async () => {
  const absent = await socketPath();
  await expect(connectEngine(at(absent))).rejects.toMatchObject({
    kind: "environment",
    code: "NO_DOCKER",
    message: `no Docker engine: there is no socket ${absent}`,
    hint: "Run `runner doctor --fix`.",
  });
  await expect(connectEngine({ env: { DOCKER_HOST: "tcp://127.0.0.1:1" } })).rejects.toMatchObject({
    code: "NO_DOCKER",
    message: "no Docker engine: nothing answers at tcp://127.0.0.1:1",
  });
  const web = await serve((_, response) => {
    response.writeHead(404).end("no page");
  });
  await expect(connectEngine(at(web))).rejects.toMatchObject({
    code: "NO_DOCKER",
    message: `no Docker engine: what answers at ${web} is no Docker engine: (HTTP code 404) unexpected - no page`,
  });
});

test("an engine that takes the connection and never answers is given up", async () => {
  const silent = await serve(() => undefined);
  await expect(connectEngine({ ...at(silent), answerMs: 50 })).rejects.toMatchObject({
    code: "NO_DOCKER",
    message: `no Docker engine: the daemon at ${silent} did not answer in time`,
  });
});

test("an engine that is too old is refused by name", async () => {
  const old = await serve((_, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ Version: "18.09.1", ApiVersion: "1.39", MinAPIVersion: "1.12", Os: "linux" }));
  });
  await expect(connectEngine(at(old))).rejects.toMatchObject({
    code: "DOCKER_API_TOO_OLD",
    message: "the Docker engine speaks API 1.39",
    hint: "Install Docker 20.10 or newer (API 1.41).",
  });
});

test("the client's own log line does not walk the connection pool at every request", async () => {
  const answers: Record<string, unknown> = {
    "/version": { Version: "20.10.24", ApiVersion: "1.41", MinAPIVersion: "1.12", Os: "linux" },
    "/v1.41/info": { DockerRootDir: "/var/lib/docker" },
  };
  const path = await serve((request, response) => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(answers[request.url ?? ""] ?? {}));
  });
  await using engine = await connectEngine(at(path));
  // Asked as the client asks, at full depth: sockets in the pool would make this text grow without bound.
  expect(inspect(Reflect.get(engine.docker.modem, "agent"), { showHidden: true, depth: null })).toBe("Agent");
});

test("an abort while connecting is an interruption, not a missing engine", async () => {
  const stop = new AbortController();
  const silent = await serve(() => stop.abort());
  await expect(connectEngine({ ...at(silent), signal: stop.signal })).rejects.toMatchObject({
    kind: "interrupted",
    code: "ABORTED",
  });
});

test("the newest API version that both sides know is spoken", () => {
  expect(negotiate("1.41", "1.12")).toBe("1.41");
  expect(negotiate("1.43", "1.24")).toBe("1.43");
  expect(negotiate("1.51", "1.44")).toBe("1.44");
  expect(() => negotiate("1.60", "1.50")).toThrow("asks for API 1.50 at least");
  expect(() => negotiate("1.9", "1.1")).toThrow("speaks API 1.9");
});

test("DOCKER_HOST is read as the Docker CLI reads it", () => {
  expect(endpointOf({})).toEqual({ kind: "unix", socketPath: "/var/run/docker.sock" });
  expect(endpointOf({ DOCKER_HOST: "unix:///run/a.sock" })).toEqual({ kind: "unix", socketPath: "/run/a.sock" });
  expect(endpointOf({ DOCKER_HOST: "tcp://10.0.0.1:99" })).toEqual({ kind: "tcp", host: "10.0.0.1", port: 99 });
  expect(endpointOf({ DOCKER_HOST: "tcp://[::1]" })).toEqual({ kind: "tcp", host: "::1", port: 2375 });
  for (const value of ["ssh://me@host", "tcp://", "localhost:2375"]) {
    expect(() => endpointOf({ DOCKER_HOST: value })).toThrow(`DOCKER_HOST is ${JSON.stringify(value)}`);
  }
  expect(() => endpointOf({ DOCKER_HOST: "tcp://h", DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/nowhere" })).toThrow(
    "DOCKER_TLS_VERIFY is set, and ENOENT: no such file or directory, open '/nowhere/ca.pem'",
  );
});

test("nothing is installed or started for an engine that DOCKER_HOST names", async () => {
  const absent = await socketPath();
  const said: string[] = [];
  await expect(
    ensureEngine({ ...at(absent), fix: true, report: (line) => void said.push(line) }),
  ).rejects.toMatchObject({
    code: "NO_DOCKER",
    message: `no Docker engine: there is no socket ${absent} (DOCKER_HOST is set)`,
  });
  expect(said).toEqual([]);
});

test("a socket without permission is its own error", async () => {
  const path = await serve(() => undefined);
  await chmod(path, 0);
  const root = process.geteuid?.() === 0;
  // Root may always, so the attempt is made as nobody.
  if (root) process.seteuid?.(65534);
  try {
    await expect(connectEngine(at(path))).rejects.toMatchObject({
      code: "DOCKER_PERMISSION",
      message: `this user may not use Docker's socket ${path}`,
    });
  } finally {
    if (root) process.seteuid?.(0);
  }
});
