import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { RunnerError } from "../base/errors.ts";
import { checkAborted } from "./api-error.ts";
import { type ConnectOptions, connectEngine, type Engine } from "./engine.ts";
import { installEngine } from "./install-engine.ts";
import { logTail, type StartedDaemon, startDaemon } from "./start-daemon.ts";

export interface EnsureOptions extends ConnectOptions {
  /** True: install and start what is missing. False: only connect. */
  readonly fix: boolean;
  /** Takes one line for people per step. */
  readonly report: (line: string) => void;
  /** Where a daemon that is started here writes. */
  readonly log?: string;
}

const DEFAULT_LOG = "/var/log/jacobian-runner-dockerd.log";
const ANSWERS_WITHIN_MS = 60_000;
const INSTALLED_STARTS_WITHIN_MS = 3_000;
const PAUSE_MS = 200;

/**
 * Connects to the engine; with `fix` installs Debian's and starts it first when none answers. A second call finds it answering.
 * @throws RunnerError as {@link connectEngine}; `DOCKER_FIX_ROOT` when fixing needs root; `DOCKER_INSTALL`; `DOCKER_START` with the
 * end of the daemon's log.
 */
export async function ensureEngine(options: EnsureOptions): Promise<Engine> {
  const { fix, report, signal, log = DEFAULT_LOG, env = process.env } = options;
  const connection = { env, signal };
  try {
    return await connectEngine(connection);
  } catch (thrown) {
    if (!fix || !(thrown instanceof RunnerError) || thrown.code !== "NO_DOCKER") throw thrown;
    if (env.DOCKER_HOST) {
      throw new RunnerError("environment", "NO_DOCKER", `${thrown.message} (DOCKER_HOST is set)`, {
        hint: "Start that engine, or unset DOCKER_HOST to use one on this machine.",
        cause: thrown,
      });
    }
    report(thrown.message);
  }
  if (process.getuid?.() !== 0) {
    throw new RunnerError("environment", "DOCKER_FIX_ROOT", "installing and starting Docker needs root", {
      hint: "Run `sudo runner doctor --fix`, or have Docker installed and started.",
    });
  }
  if (!onPath("dockerd", env) || !onPath("iptables", env)) {
    await installEngine({ report, signal });
    // The package's own script may have started it.
    const started = await answers(connection, INSTALLED_STARTS_WITHIN_MS, undefined);
    if (started !== undefined) return announce(started, report);
  }
  const daemon = await startDaemon({ report, log, signal });
  const engine = await answers(connection, ANSWERS_WITHIN_MS, daemon);
  if (engine !== undefined) return announce(engine, report);
  const tail = await logTail(log);
  const why = daemon.died() ?? `it did not answer within ${ANSWERS_WITHIN_MS / 1000} s`;
  throw new RunnerError("environment", "DOCKER_START", `Docker could not be started: ${why}${tail && `\n${tail}`}`, {
    hint: `Read ${log}.`,
  });
}

function announce(engine: Engine, report: (line: string) => void): Engine {
  report(`Docker ${engine.facts.version} answers (API ${engine.facts.apiVersion})`);
  return engine;
}

/** Connects as soon as the engine answers; undefined when it does not in time or has died. */
async function answers(
  connection: ConnectOptions,
  withinMs: number,
  daemon: StartedDaemon | undefined,
): Promise<Engine | undefined> {
  const until = performance.now() + withinMs;
  for (;;) {
    checkAborted(connection.signal, "start Docker");
    try {
      return await connectEngine(connection);
    } catch (thrown) {
      if (!(thrown instanceof RunnerError) || thrown.code !== "NO_DOCKER") throw thrown;
    }
    if (daemon?.died() !== undefined || performance.now() > until) return undefined;
    await sleep(PAUSE_MS);
  }
}

function onPath(program: string, env: ConnectOptions["env"]): boolean {
  const folders = (env?.PATH || "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin").split(delimiter);
  // The system folders count even for a user whose PATH leaves them out.
  return [...folders, "/usr/sbin", "/sbin"].some((folder) => existsSync(join(folder, program)));
}
