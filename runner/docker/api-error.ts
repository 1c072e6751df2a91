import { messageOf, RunnerError } from "../base/errors.ts";

/** Options of every call that waits for the engine. */
export interface Abortable {
  readonly signal?: AbortSignal | undefined;
}

/** The HTTP status the engine answered with, when it answered at all. */
export function statusOf(thrown: unknown): number | undefined {
  if (!(thrown instanceof Error) || !("statusCode" in thrown)) return undefined;
  return typeof thrown.statusCode === "number" ? thrown.statusCode : undefined;
}

/** True when the engine says that the thing is not there. */
export function isGone(thrown: unknown): boolean {
  return statusOf(thrown) === 404;
}

/** Throws `ABORTED` when the signal has fired. */
export function checkAborted(signal: AbortSignal | undefined, action: string): void {
  if (signal?.aborted) throw aborted(action, signal.reason);
}

/**
 * Turns whatever a call to the engine threw into the one error a user sees: `ABORTED`, `NO_SPACE`, `NO_DOCKER`, `DOCKER_PERMISSION`,
 * or `DOCKER_FAILED` with the engine's own words. A RunnerError passes unchanged.
 * @param action what was being done, as "start a container".
 */
export function apiError(action: string, thrown: unknown, signal?: AbortSignal): RunnerError {
  if (thrown instanceof RunnerError) return thrown;
  if (signal?.aborted || (thrown instanceof Error && thrown.name === "AbortError")) return aborted(action, thrown);
  const words = messageOf(thrown)
    .replace(/^\(HTTP code \d+\) [^-]*- /, "")
    .trim();
  const message = `could not ${action}: ${words}`;
  if (/no space left on device|ENOSPC/i.test(words)) {
    return new RunnerError("environment", "NO_SPACE", message, {
      hint: "Free disk space at Docker's data root, then run again.",
      cause: thrown,
    });
  }
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (code === "ENOENT" || code === "ECONNREFUSED") {
    return new RunnerError("environment", "NO_DOCKER", message, { hint: "Run `runner doctor --fix`.", cause: thrown });
  }
  if (code === "EACCES") {
    return new RunnerError("environment", "DOCKER_PERMISSION", message, {
      hint: "Run as root, or as a member of the docker group.",
      cause: thrown,
    });
  }
  const status = statusOf(thrown);
  return new RunnerError("environment", "DOCKER_FAILED", message, {
    cause: thrown,
    ...(status === undefined ? {} : { details: { status } }),
  });
}

function aborted(action: string, cause: unknown): RunnerError {
  return new RunnerError("interrupted", "ABORTED", `stopped while trying to ${action}`, { cause });
}
