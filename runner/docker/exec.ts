import type { Duplex, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { type Clock, systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, apiError, isGone, statusOf } from "./api-error.ts";
import type { ByteSink } from "./byte-sink.ts";
import { type ContainerState, readState } from "./container-state.ts";
import { demultiplex } from "./demux.ts";

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

/** Polling of a running command: rare, since the end of its output usually tells; and of its container's state. */
const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 1_000;
const DEATH_CHECK_MS = 5_000;
/** How long an ended command's exit code may stay unknown. */
const EXIT_CODE_WITHIN_MS = 5_000;
/** How long output may stay silent after the command's end before it counts as held open by others; the engine itself waits 2 s. */
const QUIET_MS = 300;
const HELD_OPEN_MS = 2_500;
/** How long a container may take to be seen dead after a command in it was killed. */
const DEATH_WITHIN_MS = 1_000;

type Ending = "timeout" | "abort" | Exit;
interface Exit {
  readonly code: number | null;
  readonly started: boolean;
  readonly died: boolean;
}

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
    if (!ending.died && ending.code !== 137) {
      return finish({ exitCode: ending.code, endedBy: "self", started: ending.started, outputEnded, container: null });
    }
    const state = await settledState(container, ending.died);
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

/**
 * Polls the engine's record until the command has ended: at once when its output ends, otherwise at growing intervals, because a
 * process left behind can hold the output open, and one can close its output and run on.
 */
async function watchExit(
  docker: Dockerode,
  container: Dockerode.Container,
  id: string,
  outputEnded: Promise<void>,
  done: AbortSignal,
): Promise<Exit> {
  let interval = FIRST_POLL_MS;
  let silent = true;
  let checkedAt = performance.now();
  const ended = outputEnded.then(
    () => "ended",
    () => "ended",
  );
  let unknownSince: number | undefined;
  for (;;) {
    const pause = sleep(interval, undefined, { signal: done });
    pause.catch(() => undefined);
    const woke = silent ? await Promise.race([ended, pause]) : await pause;
    if (woke === "ended") {
      silent = false;
      interval = 4;
      checkedAt = performance.now();
    }
    const seen = await inspectExec(docker, id);
    if (seen === undefined) return { code: null, started: true, died: true };
    if (!seen.Running && seen.ExitCode !== null) return { code: seen.ExitCode, started: seen.Pid > 0, died: false };
    // The container's death ends the output as well, so its state is asked for rarely: the engine answers under the container's lock.
    if (performance.now() - checkedAt > (silent ? DEATH_CHECK_MS : FIRST_POLL_MS)) {
      checkedAt = performance.now();
      if (!(await readState(container)).running) return { code: null, started: seen.Pid > 0, died: true };
    }
    if (!seen.Running) {
      // "Not running, no exit code" is also the state before the start, so it is never read as 0.
      unknownSince ??= performance.now();
      if (performance.now() - unknownSince > EXIT_CODE_WITHIN_MS) {
        throw noExitCode();
      }
    }
    interval = Math.min(LAST_POLL_MS, interval * 1.5);
  }
}

function noExitCode(): RunnerError {
  return new RunnerError("environment", "EXEC_NO_EXIT_CODE", "the engine gives no exit code for an ended command");
}

async function inspectExec(docker: Dockerode, id: string): Promise<Dockerode.ExecInspectInfo | undefined> {
  try {
    return await docker.getExec(id).inspect();
  } catch (thrown) {
    if (isGone(thrown)) return undefined;
    throw thrown;
  }
}

interface Activity {
  at: number;
  busy: boolean;
  failure: unknown;
}

/** Resolves when no output has come for a while, counted only while the sink is not holding it back. */
async function quiet(activity: Activity, done: AbortSignal): Promise<void> {
  const since = performance.now();
  for (;;) {
    await sleep(50, undefined, { signal: done }).catch(() => undefined);
    if (done.aborted) return;
    const now = performance.now();
    if (activity.busy) continue;
    if (now - Math.max(activity.at, since) >= QUIET_MS || now - since >= HELD_OPEN_MS) return;
  }
}

function watched(sink: ByteSink, activity: Activity): ByteSink {
  return async (bytes) => {
    activity.busy = true;
    try {
      await sink(bytes);
    } catch (thrown) {
      activity.failure = thrown;
      throw thrown;
    } finally {
      activity.busy = false;
      activity.at = performance.now();
    }
  };
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

/** A killed command may be the first sign of a dying container; waits for the engine to have seen the death. */
async function settledState(container: Dockerode.Container, certain: boolean): Promise<ContainerState> {
  const since = performance.now();
  for (;;) {
    const state = await readState(container);
    if (!state.running || certain || performance.now() - since > DEATH_WITHIN_MS) return state;
    await sleep(50);
  }
}
