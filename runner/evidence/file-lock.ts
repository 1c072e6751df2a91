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
  // The child says when it has the lock and keeps it until its standard input ends, which the death of this process brings about too.
  const child = execa(
    "flock",
    ["--exclusive", "--wait", String(PATIENCE), path, "sh", "-c", "echo held; cat >/dev/null"],
    {
      reject: false,
      buffer: { stdout: false, stderr: true },
    },
  );
  const held = await new Promise<boolean>((resolve) => {
    child.stdout.once("data", () => resolve(true));
    child.stdout.once("end", () => resolve(false));
    child.once("error", () => resolve(false));
  });
  if (!held) {
    const result = await child;
    if (hasCode(result.cause, "ENOENT") || result.code === "ENOENT") {
      throw new RunnerError("environment", "LOCK_TOOL", "flock is not installed", {
        hint: "Install util-linux (Debian: apt-get install util-linux).",
      });
    }
    const why = result.exitCode === 1 ? `was locked by another process for ${PATIENCE} s` : messageOf(result);
    throw new RunnerError("environment", "LOCK_BUSY", `${path} ${why}`, {
      hint: "Wait for the other process, then try again.",
    });
  }
  return {
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await child;
    },
  };
}
