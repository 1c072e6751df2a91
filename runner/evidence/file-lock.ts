import { execa } from "execa";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";

/** Seconds to wait for another holder. */
const PATIENCE = 60;

/**
 * Holds an exclusive lock on a file that exists, across processes, until disposed. The kernel gives it up when the holder dies, so no lock is ever
 * stale. It needs `flock` from util-linux, because Node has no call for it.
 * @throws RunnerError `LOCK_TOOL` without flock, `LOCK_BUSY` after a minute.
 */
export async function lockFile(path: string): Promise<AsyncDisposable> {
  const lock = await tryLockFile(path, PATIENCE);
  if (lock !== null) return lock;
  throw new RunnerError("environment", "LOCK_BUSY", `${path} was locked by another process for ${PATIENCE} s`, {
    hint: "Wait for the other process, then try again.",
  });
}

/**
 * {@link lockFile} with another patience, in seconds; null when somebody else holds the lock all the while.
 * @throws RunnerError `LOCK_TOOL` without flock, `LOCK_BROKEN` when it fails otherwise.
 */
export async function tryLockFile(path: string, seconds = 0): Promise<AsyncDisposable | null> {
  // The child says when it has the lock and keeps it until its standard input ends, which the death of this process brings about too.
  // It has a process group of its own, so that a Ctrl-C meant for this process leaves it alone until this process has tidied up.
  const words = ["--exclusive", "--wait", String(seconds), path, "sh", "-c", "echo held; cat >/dev/null"];
  const child = execa("flock", words, { reject: false, detached: true, buffer: { stdout: false, stderr: true } });
  const held = await new Promise<boolean>((resolve) => {
    child.stdout.once("data", () => resolve(true));
    child.stdout.once("end", () => resolve(false));
    child.once("error", () => resolve(false));
  });
  if (held) {
    return {
      [Symbol.asyncDispose]: async () => {
        child.stdin.end();
        await child;
      },
    };
  }
  const result = await child;
  if (hasCode(result.cause, "ENOENT") || result.code === "ENOENT") {
    throw new RunnerError("environment", "LOCK_TOOL", "flock is not installed", {
      hint: "Install util-linux (Debian: apt-get install util-linux).",
    });
  }
  if (result.exitCode === 1) return null;
  throw new RunnerError("environment", "LOCK_BROKEN", `${path} cannot be locked: ${messageOf(result)}`);
}
