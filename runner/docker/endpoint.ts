import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { messageOf, RunnerError } from "../base/errors.ts";

/** The environment variables a call may read; never the process's own behind the caller's back. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Where an engine listens. */
export type Endpoint =
  | { readonly kind: "unix"; readonly socketPath: string }
  | { readonly kind: "tcp"; readonly host: string; readonly port: number; readonly tls?: TlsFiles };

interface TlsFiles {
  readonly ca: Buffer;
  readonly cert: Buffer;
  readonly key: Buffer;
}

const DEFAULT_SOCKET = "/var/run/docker.sock";

/**
 * Reads `DOCKER_HOST`, `DOCKER_TLS_VERIFY` and `DOCKER_CERT_PATH` as the Docker CLI does; without `DOCKER_HOST` it is the system's socket.
 * @throws RunnerError `DOCKER_HOST_INVALID` for anything but unix and tcp addresses.
 */
export function endpointOf(env: Environment): Endpoint {
  const value = env.DOCKER_HOST ?? "";
  if (value === "") return { kind: "unix", socketPath: DEFAULT_SOCKET };
  if (value.startsWith("unix://")) {
    return { kind: "unix", socketPath: value.slice("unix://".length) || DEFAULT_SOCKET };
  }
  if (!value.startsWith("tcp://") || !URL.canParse(value)) throw invalidHost(value);
  const url = new URL(value);
  const secure = (env.DOCKER_TLS_VERIFY ?? "") !== "";
  const port = url.port === "" ? (secure ? 2376 : 2375) : Number(url.port);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (host === "") throw invalidHost(value);
  return secure ? { kind: "tcp", host, port, tls: tlsFiles(env) } : { kind: "tcp", host, port };
}

/** The endpoint in words. */
export function describeEndpoint(endpoint: Endpoint): string {
  return endpoint.kind === "unix" ? endpoint.socketPath : `tcp://${endpoint.host}:${endpoint.port}`;
}

function tlsFiles(env: Environment): TlsFiles {
  const folder = env.DOCKER_CERT_PATH || join(homedir(), ".docker");
  try {
    const read = (name: string) => readFileSync(join(folder, name));
    return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
  } catch (cause) {
    throw new RunnerError("environment", "DOCKER_TLS", `DOCKER_TLS_VERIFY is set, and ${messageOf(cause)}`, {
      hint: "Point DOCKER_CERT_PATH at a folder with ca.pem, cert.pem and key.pem.",
      cause,
    });
  }
}

function invalidHost(value: string): RunnerError {
  return new RunnerError("environment", "DOCKER_HOST_INVALID", `DOCKER_HOST is ${JSON.stringify(value)}`, {
    hint: "Use unix:///path/to/docker.sock or tcp://host:port.",
  });
}
