import { PassThrough } from "node:stream";
import type Dockerode from "dockerode";
import { expect, test } from "vitest";
import { execIn } from "../../../runner/docker/exec.ts";

interface Script {
  /** What the engine says about the command, one answer after the other; the last one stays. */
  readonly records: readonly { Running: boolean; ExitCode: number | null; Pid: number }[];
}

/** An engine that only knows one running container and one command in it. */
function engineWith({ records }: Script) {
  let asked = 0;
  const exec = {
    id: "e",
    start: async () => {
      const socket = new PassThrough();
      socket.end();
      return socket;
    },
    inspect: async () => records[Math.min(asked++, records.length - 1)],
  };
  const state = { Status: "running", Running: true, ExitCode: 0, Pid: 1, StartedAt: "", FinishedAt: "", Error: "" };
  const container = { id: "c", exec: async () => exec, inspect: async () => ({ State: state }) };
  const docker = { getExec: () => exec };
  return {
    docker: docker as unknown as Dockerode,
    container: container as unknown as Dockerode.Container,
    asked: () => asked,
  };
}

const spec = { argv: ["true"], stdout: () => undefined, stderr: () => undefined };

test("no exit code yet is asked for again until there is one (C5)", async () => {
  const pending = { Running: false, ExitCode: null, Pid: 0 };
  const { docker, container, asked } = engineWith({
    records: [pending, pending, { Running: true, ExitCode: null, Pid: 7 }, { Running: false, ExitCode: 42, Pid: 7 }],
  });
  expect(await execIn(docker, container, spec)).toMatchObject({ exitCode: 42, endedBy: "self", started: true });
  expect(asked()).toBe(4);
});

test("an exit code that never comes is an error after a bounded time, never 0 (C5)", async () => {
  const { docker, container } = engineWith({ records: [{ Running: false, ExitCode: null, Pid: 0 }] });
  await expect(execIn(docker, container, spec)).rejects.toMatchObject({
    kind: "environment",
    code: "EXEC_NO_EXIT_CODE",
  });
});

test("the elapsed time comes from the clock that is given, whatever wall time does (C16)", async () => {
  const { docker, container } = engineWith({ records: [{ Running: false, ExitCode: 0, Pid: 7 }] });
  const times = [5_000_000, 8_500_000];
  const clock = { micros: () => times.shift() ?? 0, wall: () => "1970-01-01T00:00:00.000Z" };
  expect((await execIn(docker, container, { ...spec, clock })).elapsedMicros).toBe(3_500_000);
});
