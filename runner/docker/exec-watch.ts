import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { isGone } from "./api-error.ts";
import { type ContainerState, readState } from "./container-state.ts";

/** Polling of a running command: rare, since the end of its output usually tells; and of its container's state. */
const FIRST_POLL_MS = 100;
const LAST_POLL_MS = 1_000;
const DEATH_CHECK_MS = 5_000;
/** How long an ended command's exit code may stay unknown. */
const EXIT_CODE_WITHIN_MS = 5_000;
/** How long the engine may take to record the death of a container that has no process left. */
const DEATH_WITHIN_MS = 10_000;

/** What the engine's record says about a command that runs no more. */
export interface Exit {
  readonly code: number | null;
  readonly started: boolean;
  readonly died: boolean;
}

/**
 * Polls the engine's record until the command has ended: at once when its output ends, otherwise at growing intervals, because a
 * process left behind can hold the output open, and one can close its output and run on.
 */
export async function watchExit(
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

export function noExitCode(): RunnerError {
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

/**
 * A killed command may be the first sign of a dying container, and one that did not start may have come too late for it; waits until
 * the engine has seen the death, or until the container is certain to live.
 */
export async function settledState(container: Dockerode.Container, patienceMs: number): Promise<ContainerState> {
  const since = performance.now();
  for (;;) {
    const state = await readState(container);
    const waited = performance.now() - since;
    if (!state.running || waited > DEATH_WITHIN_MS) return state;
    if (waited >= patienceMs && (await hasProcesses(container))) return state;
    await sleep(50);
  }
}

/** Asks for the processes themselves: the engine's own record stays "running" for a while after the last one has ended. */
async function hasProcesses(container: Dockerode.Container): Promise<boolean> {
  try {
    const { Processes: processes }: { readonly Processes: readonly unknown[] } = await container.top();
    return processes.length > 0;
  } catch {
    return false;
  }
}
