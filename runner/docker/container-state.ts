import type Dockerode from "dockerode";
import { type Abortable, apiError, isGone } from "./api-error.ts";

/** What the engine says about a container. */
export interface ContainerState {
  /** `created`, `running`, `paused`, `restarting`, `removing`, `exited`, `dead`, or `gone` when the engine no longer knows it. */
  readonly status: string;
  readonly running: boolean;
  /** Exit code of the main process; null while it has not ended. */
  readonly exitCode: number | null;
  /**
   * The engine's flag that some process in the container was ended for lack of memory: an observation, not a verdict. On cgroup v1 it
   * turns true only after the container has stopped, also when only a child was ended.
   */
  readonly oomKilled: boolean;
  /** Host process id of the main process; null when it does not run. */
  readonly pid: number | null;
  /** Wall times as the engine wrote them; labels only. Null when it has not happened. */
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** The engine's words about a failed start; empty when there are none. */
  readonly error: string;
}

const GONE: ContainerState = {
  status: "gone",
  running: false,
  exitCode: null,
  oomKilled: false,
  pid: null,
  startedAt: null,
  finishedAt: null,
  error: "",
};

/** Reads a container's state; one that is not there has the status `gone`. */
export async function readState(container: Dockerode.Container, { signal }: Abortable = {}): Promise<ContainerState> {
  try {
    const { State: state } = await container.inspect(signal === undefined ? {} : { abortSignal: signal });
    const ended = !state.Running && state.Status !== "created";
    return {
      status: state.Status,
      running: state.Running,
      exitCode: ended ? state.ExitCode : null,
      oomKilled: state.OOMKilled,
      pid: state.Pid > 0 ? state.Pid : null,
      startedAt: timeOf(state.StartedAt),
      finishedAt: ended ? timeOf(state.FinishedAt) : null,
      error: state.Error,
    };
  } catch (thrown) {
    if (isGone(thrown)) return GONE;
    throw apiError("read a container's state", thrown, signal);
  }
}

// The engine writes the zero time of its own language for "never".
function timeOf(text: string): string | null {
  return text === "" || text.startsWith("0001-") ? null : text;
}
