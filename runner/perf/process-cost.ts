import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";

/** What a process took from its start to its end. */
export interface ProcessCost {
  readonly seconds: number;
  /** Largest resident memory that was seen, in bytes; it is looked at twenty times a second. */
  readonly peakResidentBytes: number;
  readonly exitCode: number | null;
  /** The last bytes of its standard error. */
  readonly lastWords: string;
}

export interface ProcessInput {
  readonly command: string;
  readonly args: readonly string[];
  /** What it reads from its standard input. */
  readonly stdin?: Iterable<string>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

const LOOK_MILLIS = 50;
const LAST_WORDS = 2000;

/** Runs a process, its output thrown away, and measures it. @throws what starting it throws; the signal's reason when aborted. */
export async function measureProcess({ command, args, stdin, env, signal }: ProcessInput): Promise<ProcessCost> {
  const from = process.hrtime.bigint();
  const child = spawn(command, args, {
    stdio: ["pipe", "ignore", "pipe"],
    ...(env === undefined ? {} : { env: { ...env } }),
  });
  let lastWords = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    lastWords = (lastWords + text).slice(-LAST_WORDS);
  });
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  const stop = (): void => void child.kill("SIGKILL");
  signal.addEventListener("abort", stop, { once: true });
  // A process that ends before it has read everything says so by its exit code.
  child.stdin.on("error", () => undefined);
  for (const text of stdin ?? []) child.stdin.write(text);
  child.stdin.end();
  let peakResidentBytes = 0;
  const looking = new AbortController();
  const watch = (async () => {
    while (!looking.signal.aborted) {
      peakResidentBytes = Math.max(peakResidentBytes, await peakOf(child.pid));
      await delay(LOOK_MILLIS, undefined, { signal: looking.signal }).catch(() => undefined);
    }
  })();
  try {
    const exitCode = await ended;
    const seconds = Number(process.hrtime.bigint() - from) / 1e9;
    signal.throwIfAborted();
    return { seconds, peakResidentBytes, exitCode, lastWords };
  } finally {
    looking.abort();
    await watch;
    signal.removeEventListener("abort", stop);
  }
}

/** The kernel's own high-water mark of a process, all threads together; 0 when it is gone. */
async function peakOf(pid: number | undefined): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kilobytes = /^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1];
  return kilobytes === undefined ? 0 : Number(kilobytes) * 1024;
}
