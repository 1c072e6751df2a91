import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { BoundedOutput } from "./bounded-output.ts";

export interface ShellOptions {
  readonly workdir: string;
  readonly seconds: number;
  readonly outputBytes: number;
}

export interface ShellResult {
  /** What the model is told. */
  readonly text: string;
  readonly isError: boolean;
}

/** After the shell has ended, output that is still on its way gets this long; a background process may hold the pipe for ever. */
const DRAIN_MILLIS = 200;

/** Runs `/bin/sh -c command`, bounded in time and output. At the time limit the whole process group is killed. */
export async function runShell(command: string, { workdir, seconds, outputBytes }: ShellOptions): Promise<ShellResult> {
  const child = spawn("/bin/sh", ["-c", command], { cwd: workdir, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const stdout = new BoundedOutput(outputBytes);
  const stderr = new BoundedOutput(outputBytes);
  child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
  const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
  let timedOut = false;
  const timer = setTimeout(() => {
    timedOut = true;
    killGroup(child.pid);
  }, seconds * 1000);
  const outcome = await new Promise<{ line: string; ok: boolean }>((resolve) => {
    child.once("error", (error) => resolve({ line: `the command could not be started: ${error.message}`, ok: false }));
    child.once("exit", (code, signal) =>
      resolve({ line: signal === null ? `exit code ${code}` : `ended by ${signal}`, ok: code === 0 }),
    );
  });
  clearTimeout(timer);
  await Promise.race([closed, delay(DRAIN_MILLIS)]);
  child.stdout.destroy();
  child.stderr.destroy();
  const line = timedOut ? `stopped after the limit of ${seconds} seconds` : outcome.line;
  const parts = [`[${line}]`];
  const out = stdout.text();
  const err = stderr.text();
  if (out !== "") parts.push(out);
  if (err !== "") parts.push("[stderr]", err);
  return { text: parts.join("\n"), isError: timedOut || !outcome.ok };
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The group has ended by itself.
  }
}
