import { PassThrough } from "node:stream";
import type Docker from "dockerode";
import { messageOf, RunnerError } from "../base/errors.ts";
import { readLines } from "../base/lines.ts";
import { buildError } from "./build-errors.ts";
import { ROLE_LABEL } from "./names.ts";
import type { LayerEntry } from "./tar-entries.ts";
import { tarStream } from "./tar-writer.ts";

export interface BuildContainerRequest {
  /** What is being built, for messages. */
  readonly what: string;
  /** Id of the image the script runs in. */
  readonly imageId: string;
  /** Command line, run as root with the host's network. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Files put into the container before it starts. */
  readonly entries: readonly LayerEntry[];
  /** Labels of the container, so that one that outlives its owner can be found. */
  readonly labels: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onLine?: (line: string) => void;
}

/** A container whose script has ended well; disposing removes it. */
export interface BuildContainer extends AsyncDisposable {
  readonly container: Docker.Container;
}

const KEPT_LINES = 200;

/**
 * Runs a script in a container of an image, with the host's network (so that the host's resolver works, a loopback one too).
 * @throws RunnerError as `buildError` tells failures apart; the container is gone then.
 */
export async function runBuildContainer(docker: Docker, request: BuildContainerRequest): Promise<BuildContainer> {
  request.signal?.throwIfAborted();
  const container = await docker.createContainer({
    Image: request.imageId,
    Entrypoint: [...request.command.slice(0, 1)],
    Cmd: [...request.command.slice(1)],
    Env: Object.entries(request.env).map(([key, value]) => `${key}=${value}`),
    User: "0:0",
    WorkingDir: "/",
    Labels: { ...request.labels, [ROLE_LABEL]: "image-build" },
    HostConfig: { NetworkMode: "host", Init: true, LogConfig: { Type: "none", Config: {} } },
  });
  const dispose = async (): Promise<void> => {
    await container.remove({ force: true, v: true }).catch(ignoreGone);
  };
  try {
    await container.putArchive(tarOf(request.entries), { path: "/" });
    const { status, log } = await runToEnd(docker, container, request);
    request.signal?.throwIfAborted();
    if (status !== 0) throw scriptError(request, status, log);
  } catch (thrown) {
    await dispose();
    if (request.signal?.aborted === true) throw interrupted(request.what, thrown);
    throw thrown;
  }
  return { container, [Symbol.asyncDispose]: dispose };
}

async function runToEnd(
  docker: Docker,
  container: Docker.Container,
  request: BuildContainerRequest,
): Promise<{ readonly status: number; readonly log: readonly string[] }> {
  const stream = await container.attach({ stream: true, stdout: true, stderr: true });
  const joined = new PassThrough();
  docker.modem.demuxStream(stream, joined, joined);
  stream.once("end", () => joined.end());
  stream.once("error", () => joined.end());
  const log: string[] = [];
  const reading = (async (): Promise<void> => {
    for await (const line of readLines(joined)) {
      const text = line.bytes.toString("utf8").trimEnd();
      log.push(text);
      if (log.length > KEPT_LINES) log.shift();
      request.onLine?.(text);
    }
  })();
  const stop = (): void => {
    container.kill().catch(ignoreGone);
  };
  request.signal?.addEventListener("abort", stop, { once: true });
  try {
    await container.start();
    const { StatusCode: status } = (await container.wait()) as { StatusCode: number };
    await reading;
    return { status, log };
  } finally {
    request.signal?.removeEventListener("abort", stop);
  }
}

/** Exit code 65 is a build script's word for content that is not what its digest says. */
function scriptError(request: BuildContainerRequest, status: number, log: readonly string[]): RunnerError {
  if (status === 65) {
    return new RunnerError(
      "integrity",
      "PACKAGE_HASH_MISMATCH",
      `${request.what}: a package is not the one that is pinned`,
      {
        hint: "Do not use this index before it is known why: a pinned release never changes its bytes.",
        details: { log: log.slice(-20).join("\n") },
      },
    );
  }
  return buildError({ what: request.what, log, message: `the build script ended with ${status}`, network: true });
}

function interrupted(what: string, cause: unknown): RunnerError {
  return new RunnerError("interrupted", "INTERRUPTED", `${what} was interrupted`, { cause });
}

function ignoreGone(thrown: unknown): void {
  if (!/no such container|is not running|already in progress/i.test(messageOf(thrown))) throw thrown;
}

function tarOf(entries: readonly LayerEntry[]): NodeJS.ReadableStream {
  return tarStream(async (write) => {
    for (const entry of entries) {
      const folder = entry.type === "directory";
      const header = { name: folder ? `${entry.path}/` : entry.path, mode: entry.mode } as const;
      await write(
        { ...header, type: folder ? "directory" : "file" },
        Buffer.isBuffer(entry.body) ? entry.body : Buffer.alloc(0),
      );
    }
  });
}
