import { afterAll, beforeAll, expect, test } from "vitest";
import { createCapture } from "../../../runner/docker/capture.ts";
import type { Container } from "../../../runner/docker/container.ts";
import { type Bench, openBench, run, shell } from "../../support/docker.ts";

let bench: Bench;
let shared: Container;
beforeAll(async () => {
  bench = await openBench();
  shared = await bench.sleeper();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("exec gives both streams and the exit code", async () => {
  expect(await shell(shared, "echo out; echo err >&2; exit 42")).toEqual({
    stdout: "out\n",
    stderr: "err\n",
    exitCode: 42,
    endedBy: "self",
    started: true,
    outputEnded: true,
    container: null,
    elapsedMicros: expect.any(Number),
  });
});

test("forty commands at once each give their own exit code, never 0 for one that is not known yet (C5)", async () => {
  const codes = Array.from({ length: 40 }, (_, index) => 1 + (index % 50));
  const results = await Promise.all(codes.map((code) => shell(shared, `exit ${code}`)));
  expect(results.map(({ exitCode }) => exitCode)).toEqual(codes);
});

test("interleaved output of both streams is byte-exact (C7)", async () => {
  const program = `
import os
for i in range(4000):
    os.write(1, b"o" * (i % 97) + b"\\n")
    os.write(2, b"e" * (i % 89) + b"\\n")
`;
  const lines = (char: string, modulus: number) =>
    Array.from({ length: 4000 }, (_, index) => `${char.repeat(index % modulus)}\n`).join("");
  const { stdout, stderr, exitCode } = await run(shared, ["python3", "-c", program]);
  expect({ exitCode, out: stdout === lines("o", 97), err: stderr === lines("e", 89) }).toEqual({
    exitCode: 0,
    out: true,
    err: true,
  });
});

test("a flood of output keeps head and tail, counts every byte and still gives the exit code (C8)", async () => {
  const capture = createCapture({ headBytes: 100, tailBytes: 100 });
  const total = 200 * 1024 * 1024;
  const result = await shared.exec({
    argv: ["sh", "-c", `echo first; yes | head -c ${total}; echo last; exit 3`],
    stdout: capture.write,
    stderr: capture.write,
  });
  const { head, tail, totalBytes, truncated } = capture.captured();
  expect({
    exitCode: result.exitCode,
    head: head.subarray(0, 8).toString(),
    tail: tail.subarray(-7).toString(),
    totalBytes,
    truncated,
  }).toEqual({ exitCode: 3, head: "first\ny\n", tail: "y\nlast\n", totalBytes: total + 11, truncated: true });
});

test("a command that outlives its limit is reported as such and dies with the container, whatever it ignores (C1, C2, C4)", async () => {
  await using container = await bench.sleeper();
  const limited = await shell(container, "trap '' TERM; echo begun; setsid sleep 600 & sleep 600", {
    timeoutMicros: 1_000_000,
  });
  expect(limited).toMatchObject({ exitCode: null, endedBy: "timeout", stdout: "begun\n", outputEnded: false });
  expect(limited.elapsedMicros).toBeGreaterThanOrEqual(1_000_000);
  const before = await bench.engine.docker.getContainer(container.id).top();
  const state = await container.kill();
  expect(before.Processes.length).toBeGreaterThan(2);
  expect(state).toMatchObject({ status: "exited", running: false, exitCode: 137 });
});

test("an abort while a command runs is reported, and one that came before starts nothing", async () => {
  const stop = new AbortController();
  const begun = createCapture();
  const result = await shared.exec({
    argv: ["sh", "-c", "echo begun; sleep 3"],
    stdout: async (bytes) => {
      await begun.write(bytes);
      stop.abort();
    },
    stderr: () => undefined,
    signal: stop.signal,
  });
  expect({ ...result, out: begun.captured().head.toString() }).toMatchObject({
    endedBy: "abort",
    exitCode: null,
    out: "begun\n",
  });
  const none = await shared.exec({
    argv: ["true"],
    stdout: () => undefined,
    stderr: () => undefined,
    signal: stop.signal,
  });
  expect(none).toMatchObject({ endedBy: "abort", exitCode: null });
});

test("a child left behind that holds the output open does not delay the end of its parent, and is told", async () => {
  expect(await shell(shared, "sleep 5 & echo done; exit 9")).toMatchObject({
    stdout: "done\n",
    exitCode: 9,
    endedBy: "self",
    outputEnded: false,
  });
});

test("a command that closes its output and runs on has ended only when it ends (C17)", async () => {
  expect(await shell(shared, "echo early; exec >&- 2>&-; sleep 1.5; exit 7")).toMatchObject({
    stdout: "early\n",
    exitCode: 7,
    endedBy: "self",
    outputEnded: true,
  });
});

test("a silent command gives its exit code (C17)", async () => {
  expect(await shell(shared, "sleep 2; exit 7")).toMatchObject({ stdout: "", exitCode: 7, endedBy: "self" });
});

test("a container that dies under a command is noticed, with its final state (C10)", async () => {
  await using container = await bench.sleeper();
  const output = createCapture();
  let began: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const dying = container.exec({
    argv: ["sh", "-c", "echo begun; sleep 600"],
    stdout: async (bytes) => {
      await output.write(bytes);
      began?.();
    },
    stderr: output.write,
  });
  await begun;
  // Everything but itself is killed, and with the last child the init process ends.
  const killing = shell(container, "kill -KILL -1; sleep 5");
  const dead = { status: "exited", running: false, oomKilled: false };
  expect(await dying).toMatchObject({ endedBy: "container-died", started: true, container: dead });
  expect(await killing).toMatchObject({ endedBy: "container-died", container: dead });
  expect(output.captured().head.toString()).toBe("begun\n");
  expect(await shell(container, "true")).toMatchObject({
    exitCode: null,
    endedBy: "container-died",
    started: false,
    container: dead,
  });
});

test("a command that comes while its container is dying is not taken for one that ended by itself (C10)", async () => {
  await using container = await bench.sleeper();
  const killing = shell(container, "kill -KILL -1; sleep 5");
  const late = Array.from({ length: 4 }, () => shell(container, "sleep 600"));
  const results = await Promise.all([killing, ...late]);
  expect(results.map(({ endedBy }) => endedBy)).toEqual(Array(5).fill("container-died"));
});

test("a command cannot kill the init process, so the container goes on (C10)", async () => {
  expect(await shell(shared, "kill -9 1; exit 4")).toMatchObject({ exitCode: 4, endedBy: "self" });
  expect((await shared.state()).running).toBe(true);
});

test("a child ended for lack of memory leaves the container alive, and the flag is there once it has stopped (C11)", async () => {
  await using container = await bench.sleeper({ limits: { memoryBytes: 64 * 1024 * 1024 } });
  const hungry = await run(container, ["python3", "-c", "b = bytearray(1 << 30)"]);
  expect(hungry).toMatchObject({ exitCode: 137, endedBy: "self" });
  expect((await container.state()).running).toBe(true);
  expect(await container.kill()).toMatchObject({ running: false, oomKilled: true });
});

test("a main process ended for lack of memory is not started again (C11)", async () => {
  await using container = await bench.container({
    entrypoint: [],
    command: ["python3", "-c", "b = bytearray(1 << 30)"],
    limits: { memoryBytes: 64 * 1024 * 1024 },
  });
  await container.start();
  expect(await container.wait()).toMatchObject({ status: "exited", exitCode: 137, oomKilled: true });
});

test("a program that is missing or no program is known not to have started, with the engine's words", async () => {
  const missing = await run(shared, ["/no/such/program"]);
  const unfit = await run(shared, ["/etc/passwd"]);
  expect([missing.started, unfit.started, missing.endedBy, unfit.endedBy]).toEqual([false, false, "self", "self"]);
  expect([126, 127]).toContain(missing.exitCode);
  expect(missing.stdout).toContain("/no/such/program");
  expect(unfit).toMatchObject({ exitCode: 126, stdout: expect.stringContaining("permission denied") });
  expect(await shell(shared, "exit 127")).toMatchObject({ exitCode: 127, started: true });
});

test("input of any size goes in whole, and a command that does not read it ends all the same", async () => {
  const input = Buffer.from(Array.from({ length: 1_000_000 }, (_, index) => index % 251));
  const counted = await run(shared, ["sh", "-c", "sha256sum"], { stdin: input });
  const { createHash } = await import("node:crypto");
  expect(counted.stdout).toBe(`${createHash("sha256").update(input).digest("hex")}  -\n`);
  expect(await run(shared, ["sh", "-c", "exit 5"], { stdin: input })).toMatchObject({ exitCode: 5, endedBy: "self" });
  const { Readable } = await import("node:stream");
  const streamed = createCapture();
  const result = await shared.exec({
    argv: ["wc", "-c"],
    stdin: Readable.from([input, input, input]),
    stdout: streamed.write,
    stderr: streamed.write,
  });
  expect([result.exitCode, streamed.captured().head.toString()]).toEqual([0, "3000000\n"]);
});

test("user, environment and folder are those asked for", async () => {
  const capture = createCapture();
  await shared.exec({
    argv: ["sh", "-c", "id -u; pwd; echo $COLOUR"],
    user: "1234",
    workdir: "/tmp",
    env: ["COLOUR=blue"],
    stdout: capture.write,
    stderr: capture.write,
  });
  expect(capture.captured().head.toString()).toBe("1234\n/tmp\nblue\n");
});

test("a sink that fails ends the call with its own error", async () => {
  const failure = new Error("store is full");
  await expect(
    shared.exec({ argv: ["echo", "x"], stdout: () => Promise.reject(failure), stderr: () => undefined }),
  ).rejects.toBe(failure);
});
