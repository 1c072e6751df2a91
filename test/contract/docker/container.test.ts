import { afterAll, beforeAll, expect, test } from "vitest";
import { createCapture } from "../../../runner/docker/capture.ts";
import { createContainer } from "../../../runner/docker/container.ts";
import { type Bench, openBench, run, shell } from "../../support/docker.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench[Symbol.asyncDispose]());

test("a container runs its command once, its streams arrive apart and its exit code is the command's", async () => {
  await using container = await bench.container({
    entrypoint: [],
    command: ["sh", "-c", "echo out; echo err >&2; exit 7"],
  });
  const stdout = createCapture();
  const stderr = createCapture();
  const { ended } = await container.attach({ stdout: stdout.write, stderr: stderr.write });
  await container.start();
  const state = await container.wait();
  await ended;
  expect({
    out: stdout.captured().head.toString(),
    err: stderr.captured().head.toString(),
    status: state.status,
    exitCode: state.exitCode,
    oomKilled: state.oomKilled,
  }).toEqual({ out: "out\n", err: "err\n", status: "exited", exitCode: 7, oomKilled: false });
});

test("input written to an attached container arrives byte for byte and ends", async () => {
  await using container = await bench.container({ entrypoint: [], command: ["sha256sum"], stdin: true });
  const stdout = createCapture();
  const { stdin, ended } = await container.attach({ stdout: stdout.write, stderr: stdout.write, stdin: true });
  await container.start();
  stdin?.end(Buffer.alloc(300_000, "a"));
  expect((await container.wait()).exitCode).toBe(0);
  await ended;
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update(Buffer.alloc(300_000, "a")).digest("hex");
  expect(stdout.captured().head.toString()).toBe(`${digest}  -\n`);
});

test("exec gives both streams and the exit code", async () => {
  await using container = await bench.sleeper();
  expect(await shell(container, "echo out; echo err >&2; exit 42")).toMatchObject({
    stdout: "out\n",
    stderr: "err\n",
    exitCode: 42,
    endedBy: "self",
    started: true,
    outputEnded: true,
  });
});

test("exec passes its input on and ends it", async () => {
  await using container = await bench.sleeper();
  const input = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251));
  const { createHash } = await import("node:crypto");
  const digest = createHash("sha256").update(input).digest("hex");
  expect((await run(container, ["sha256sum"], { stdin: input })).stdout).toBe(`${digest}  -\n`);
});

test("a program that is missing gives 127, the engine's words, and is known not to have started", async () => {
  await using container = await bench.sleeper();
  const missing = await run(container, ["/no/such/program"]);
  const notExecutable = await run(container, ["/etc/passwd"]);
  console.log(missing, notExecutable);
});

test("an image that is not there is one clear error, and nothing is left", async () => {
  const image = `sha256:${"0".repeat(64)}`;
  await expect(createContainer(bench.engine, { image, labels: bench.labels, network: "none" })).rejects.toMatchObject({
    code: "IMAGE_MISSING",
    message: `there is no image ${image} in the Docker engine`,
  });
});
