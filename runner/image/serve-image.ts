import type Docker from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { ROLE_LABEL } from "./names.ts";

export interface ServeImageOptions {
  readonly docker: Docker;
  readonly imageId: string;
  /** The whole command line. */
  readonly command: readonly string[];
  /** The port the server listens on inside. */
  readonly port: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** A server of an image, reachable from the host; disposing removes it. */
export interface ServedImage extends AsyncDisposable {
  /** Port on 127.0.0.1. */
  readonly hostPort: number;
  readonly container: Docker.Container;
}

/**
 * Starts an image's server for a look from the host, such as at an MCP server's surface. It is started, not awaited: the caller asks until
 * it answers.
 * @throws RunnerError `SERVER_UNREACHABLE` when the engine publishes no port.
 */
export async function serveImage(options: ServeImageOptions): Promise<ServedImage> {
  const { docker, port } = options;
  options.signal?.throwIfAborted();
  const key = `${port}/tcp`;
  const container = await docker.createContainer({
    Image: options.imageId,
    Entrypoint: [...options.command.slice(0, 1)],
    Cmd: [...options.command.slice(1)],
    ExposedPorts: { [key]: {} },
    Labels: { ...options.labels, [ROLE_LABEL]: "image-serve" },
    HostConfig: { Init: true, PortBindings: { [key]: [{ HostIp: "127.0.0.1", HostPort: "" }] } },
  });
  const dispose = async (): Promise<void> => {
    await container.remove({ force: true, v: true });
  };
  try {
    await container.start();
    const info = await container.inspect();
    const hostPort = Number(info.NetworkSettings.Ports[key]?.[0]?.HostPort);
    if (Number.isInteger(hostPort) && hostPort > 0) return { hostPort, container, [Symbol.asyncDispose]: dispose };
    throw new RunnerError("environment", "SERVER_UNREACHABLE", `the engine published no port for ${options.imageId}`, {
      hint: "The server may have ended at once; run its command line by hand.",
    });
  } catch (thrown) {
    await dispose();
    throw thrown;
  }
}
