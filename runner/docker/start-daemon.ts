import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { execa } from "execa";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Abortable } from "./api-error.ts";

export interface StartOptions extends Abortable {
  readonly report: (line: string) => void;
  /** Where the daemon's output goes; appended. */
  readonly log: string;
}

/** A daemon that was asked to start. */
export interface StartedDaemon {
  /** The reason why it will not answer any more, once that is certain. */
  readonly died: () => string | undefined;
}

const PID_FILE = "/var/run/docker.pid";

/** Starts the Docker daemon: through the service manager when it is the first process, otherwise detached in a session of its own. */
export async function startDaemon({ report, log, signal }: StartOptions): Promise<StartedDaemon> {
  const running = await runningDaemon();
  if (running !== undefined) {
    report(`a Docker daemon runs already (process ${running}); waiting for its answer`);
    return { died: () => undefined };
  }
  if (existsSync("/run/systemd/system") && (await firstProcess()) === "systemd") {
    report("starting Docker: systemctl start docker");
    await execa("systemctl", ["start", "docker"], { ...(signal === undefined ? {} : { cancelSignal: signal }) }).catch(
      (thrown) => {
        throw new RunnerError("environment", "DOCKER_START", `systemctl could not start Docker: ${messageOf(thrown)}`, {
          hint: "Look at `journalctl -u docker`.",
          cause: thrown,
        });
      },
    );
    return { died: () => undefined };
  }
  report(`starting Docker: dockerd, its output in ${log}`);
  return spawnDaemon(log);
}

/** A session of its own, so that the daemon outlives this process and the terminal's signals pass it by. */
function spawnDaemon(log: string): StartedDaemon {
  const output = openSync(log, "a");
  let death: string | undefined;
  try {
    const child = spawn("dockerd", [], { detached: true, stdio: ["ignore", output, output], cwd: "/" });
    child.once("error", (thrown) => {
      death = messageOf(thrown);
    });
    child.once("exit", (code, ended) => {
      death = `dockerd ended with ${ended ?? `exit code ${code}`}`;
    });
    child.unref();
  } finally {
    closeSync(output);
  }
  return { died: () => death };
}

/** The last bytes of a log as text. */
export async function logTail(path: string, bytes = 2000): Promise<string> {
  try {
    const handle = await open(path, "r");
    try {
      const { size } = await handle.stat();
      const start = Math.max(0, size - bytes);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
      return buffer.subarray(0, bytesRead).toString("utf8").trim();
    } finally {
      await handle.close();
    }
  } catch {
    return "";
  }
}

async function runningDaemon(): Promise<number | undefined> {
  const pid = Number((await readFile(PID_FILE, "utf8").catch(() => "")).trim());
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined;
  const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "");
  return name.trim() === "dockerd" ? pid : undefined;
}

async function firstProcess(): Promise<string> {
  return (await readFile("/proc/1/comm", "utf8").catch(() => "")).trim();
}
