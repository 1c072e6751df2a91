import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type Dockerode from "dockerode";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Abortable, apiError, statusOf } from "./api-error.ts";
import type { ByteSink } from "./byte-sink.ts";
import { type ContainerState, readState } from "./container-state.ts";
import { demultiplex } from "./demux.ts";
import { type Activity, quiet, watched } from "./exec-output.ts";
import { type Exit, noExitCode, settledState, watchExit } from "./exec-watch.ts";

export interface ExecSpec extends Abortable {
  readonly argv: readonly string[];
  /** `NAME=value` lines, added to the container's. */
  readonly env?: readonly string[];
  readonly user?: string;
  readonly workdir?: string;
  /** Given whole, then ended. Absent: no input. */
  readonly stdin?: Uint8Array | Readable;
  /** Host-side limit in microseconds from the call. Absent: none. */
  readonly timeoutMicros?: number;
  readonly stdout: ByteSink;
  readonly stderr: ByteSink;
  readonly clock?: Clock;
}

/** How a command in a running container ended. */
export interface ExecResult {
  /** Null when it is not known, which is never the same as 0. */
  readonly exitCode: number | null;
  /**
   * `self`: it ended. `timeout` and `abort`: it was left running, since the engine cannot end it alone; the caller kills the container.
   * `container-died`: the container ended under it.
   */
  readonly endedBy: "self" | "timeout" | "abort" | "container-died";
  readonly elapsedMicros: number;
  /** False when the program could not be started (exit code 126 or 127, the engine's words on stdout). */
  readonly started: boolean;
  /** False when a process left behind still held the output open; what it printed later is not here. */
  readonly outputEnded: boolean;
  /** The container's state when it is not running any more. */
  readonly container: ContainerState | null;
}

/** How long after a command was killed its container may still be on its way to death. */
const KILLED_PATIENCE_MS = 1_000;

type Ending = "timeout" | "abort" | Exit;

/**
 * Runs a command in a running container. The deadline is kept here, not in the container, and the end of the command is read from the
 * engine's record, not from the end of its output.
 * @throws RunnerError when the engine fails or the exit code stays unknown (`EXEC_NO_EXIT_CODE`); whatever a sink throws.
 */
export async function execIn(docker: Dockerode, container: Dockerode.Container, spec: ExecSpec): Promise<ExecResult> {
  const clock = spec.clock ?? systemClock;
  const begin = clock.micros();
  const done = new AbortController();
  const finish = (result: Omit<ExecResult, "elapsedMicros">): ExecResult => ({
    ...result,
    elapsedMicros: clock.micros() - begin,
  });
  const cut = (endedBy: "timeout" | "abort") =>
    finish({ exitCode: null, endedBy, started: true, outputEnded: false, container: null });
  if (spec.signal?.aborted) return cut("abort");

  let socket: Duplex | undefined;
  const activity: Activity = { at: 0, busy: false, failure: undefined };
  try {
    const limits = deadlines(spec, done.signal);
    const opening = open(container, spec);
    const opened = await Promise.race([limits, opening]);
    if (typeof opened === "string") {
      opening.then((late) => late?.socket.destroy()).catch(() => undefined);
      return cut(opened);
    }
    if (opened === undefined) return finish(await deadContainer(container));
    const { exec } = opened;
    socket = opened.socket;

    activity.at = performance.now();
    const output = demultiplex(socket, {
      stdout: watched(spec.stdout, activity),
      stderr: watched(spec.stderr, activity),
    });
    let outputEnded = false;
    const ended = output.then(() => {
      outputEnded = true;
    });
    const failed = output.then<never>(() => new Promise(() => undefined));
    failed.catch(() => undefined);
    ended.catch(() => undefined);
    feed(socket, spec.stdin);

    const exited = watchExit(docker, container, exec.id, ended, done.signal);
    exited.catch(() => undefined);
    const ending: Ending = await Promise.race([limits, exited, failed]).catch(async (thrown) => {
      // The connection breaks when the daemon or the container goes; the container's state says which.
      const state = activity.failure === undefined ? await readState(container).catch(() => undefined) : undefined;
      if (state === undefined || state.running) throw thrown;
      return { code: null, started: true, died: true };
    });
    if (typeof ending === "string") return cut(ending);

    const drained = await Promise.race([limits, failed, ended, quiet(activity, done.signal)]);
    if (typeof drained === "string") return cut(drained);
    if (!ending.died && ending.started && ending.code !== 137) {
      return finish({ exitCode: ending.code, endedBy: "self", started: ending.started, outputEnded, container: null });
    }
    const state = await settledState(container, ending.code === 137 ? KILLED_PATIENCE_MS : 0);
    const died = !state.running;
    if (ending.code === null && !died) throw noExitCode();
    return finish({
      exitCode: ending.code,
      endedBy: died ? "container-died" : "self",
      started: ending.started,
      outputEnded,
      container: died ? state : null,
    });
  } catch (thrown) {
    if (activity.failure !== undefined) throw activity.failure;
    if (spec.signal?.aborted) return cut("abort");
    throw apiError("run a command in a container", thrown, spec.signal);
  } finally {
    done.abort();
    socket?.destroy();
  }
}

/** Creates and starts the exec; undefined when the container is not running. */
async function open(container: Dockerode.Container, spec: ExecSpec) {
  try {
    const exec = await container.exec({
      Cmd: [...spec.argv],
      Env: [...(spec.env ?? [])],
      ...(spec.user === undefined ? {} : { User: spec.user }),
      ...(spec.workdir === undefined ? {} : { WorkingDir: spec.workdir }),
      AttachStdin: spec.stdin !== undefined,
      AttachStdout: true,
      AttachStderr: true,
      Tty: false,
    });
    const socket = await exec.start({ hijack: true, stdin: spec.stdin !== undefined, Tty: false });
    socket.on("error", () => undefined);
    return { exec, socket };
  } catch (thrown) {
    const status = statusOf(thrown);
    if ((status === 409 || status === 404 || status === 500) && !(await readState(container)).running) return undefined;
    throw thrown;
  }
}

async function deadContainer(container: Dockerode.Container): Promise<Omit<ExecResult, "elapsedMicros">> {
  const state = await readState(container);
  return { exitCode: null, endedBy: "container-died", started: false, outputEnded: true, container: state };
}

/** Resolves when the time is up or the caller aborts. */
function deadlines({ timeoutMicros, signal }: ExecSpec, done: AbortSignal): Promise<"timeout" | "abort"> {
  return new Promise((resolve) => {
    const onAbort = () => resolve("abort");
    const timer =
      timeoutMicros === undefined ? undefined : setTimeout(() => resolve("timeout"), Math.ceil(timeoutMicros / 1000));
    signal?.addEventListener("abort", onAbort, { once: true });
    done.addEventListener("abort", () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    });
  });
}

function feed(socket: Duplex, stdin: ExecSpec["stdin"]): void {
  if (stdin === undefined) return;
  if (stdin instanceof Uint8Array) {
    socket.end(stdin);
    return;
  }
  // A command that ends without reading its input breaks this pipe, which is its own affair.
  pipeline(stdin, async (source: AsyncIterable<Uint8Array>) => {
    for await (const chunk of source) {
      if (!socket.write(chunk)) await new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
      if (socket.destroyed) return;
    }
    socket.end();
  }).catch(() => socket.end());
}
