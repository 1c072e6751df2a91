import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { inspect } from "node:util";
import Dockerode from "dockerode";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { type Abortable, statusOf } from "./api-error.ts";
import { describeEndpoint, type Endpoint, type Environment, endpointOf } from "./endpoint.ts";

/** What is known about an engine; bound into evidence. */
export interface EngineFacts {
  readonly version: string;
  /** The API version this program speaks with it. */
  readonly apiVersion: string;
  readonly serverApiVersion: string;
  readonly kernel: string;
  readonly arch: string;
  readonly os: string;
  readonly operatingSystem: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly storageDriver: string;
  readonly cgroupVersion: string;
  readonly dataRoot: string;
  readonly securityOptions: readonly string[];
}

/** A connection to one Docker engine; disposing it closes idle sockets, nothing else. */
export interface Engine extends AsyncDisposable {
  readonly docker: Dockerode;
  readonly facts: EngineFacts;
  readonly endpoint: Endpoint;
}

export interface ConnectOptions extends Abortable {
  /** Where `DOCKER_HOST` and its companions are read from. Default: the process's environment. */
  readonly env?: Environment;
  /** How long the engine may take to answer, in milliseconds. Default 10,000. */
  readonly answerMs?: number;
}

const OLDEST = "1.41";
const NEWEST = "1.44";
const ANSWER_WITHIN_MS = 30_000;

/**
 * Connects to the engine that the environment names and reads its facts.
 * @throws RunnerError `NO_DOCKER` (no socket, refused, or silent for too long), `DOCKER_PERMISSION`, `DOCKER_API_TOO_OLD`,
 * `DOCKER_API_TOO_NEW`, `DOCKER_NOT_LINUX`, `DOCKER_HOST_INVALID`.
 */
export async function connectEngine({
  signal,
  env = process.env,
  answerMs = ANSWER_WITHIN_MS,
}: ConnectOptions = {}): Promise<Engine> {
  const endpoint = endpointOf(env);
  const agent = agentFor(endpoint);
  const deadline = AbortSignal.timeout(answerMs);
  const abortSignal = signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
  try {
    const plain = client(endpoint, agent, undefined);
    const version = await plain.version.call<Dockerode, [unknown], Promise<Dockerode.DockerVersion>>(plain, {
      abortSignal,
    });
    const apiVersion = negotiate(version.ApiVersion, version.MinAPIVersion);
    const docker = client(endpoint, agent, `v${apiVersion}`);
    const info = await docker.info.call<Dockerode, [unknown], Promise<EngineInfo>>(docker, { abortSignal });
    const facts = factsOf(version, info, apiVersion);
    if (facts.os !== "linux") {
      throw new RunnerError("environment", "DOCKER_NOT_LINUX", `the Docker engine runs ${facts.os} containers`, {
        hint: "Use an engine for Linux containers.",
      });
    }
    return { docker, facts, endpoint, [Symbol.asyncDispose]: async () => agent.destroy() };
  } catch (thrown) {
    agent.destroy();
    throw connectError(endpoint, thrown, signal);
  }
}

interface EngineInfo {
  readonly OperatingSystem: string;
  readonly NCPU: number;
  readonly MemTotal: number;
  readonly Driver: string;
  readonly CgroupVersion?: string;
  readonly DockerRootDir: string;
  readonly SecurityOptions?: readonly string[] | null;
}

function factsOf(version: Dockerode.DockerVersion, info: EngineInfo, apiVersion: string): EngineFacts {
  return {
    version: version.Version,
    apiVersion,
    serverApiVersion: version.ApiVersion,
    kernel: version.KernelVersion,
    arch: version.Arch,
    os: version.Os,
    operatingSystem: info.OperatingSystem,
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    storageDriver: info.Driver,
    cgroupVersion: info.CgroupVersion ?? "1",
    dataRoot: info.DockerRootDir,
    securityOptions: info.SecurityOptions ?? [],
  };
}

/** The newest version both sides know. */
export function negotiate(server: string, serverOldest: string): string {
  if (compareVersions(server, OLDEST) < 0) {
    throw new RunnerError("environment", "DOCKER_API_TOO_OLD", `the Docker engine speaks API ${server}`, {
      hint: `Install Docker 20.10 or newer (API ${OLDEST}).`,
    });
  }
  if (compareVersions(serverOldest, NEWEST) > 0) {
    throw new RunnerError(
      "environment",
      "DOCKER_API_TOO_NEW",
      `the Docker engine asks for API ${serverOldest} at least`,
      {
        hint: `Use an engine that still speaks API ${NEWEST}.`,
      },
    );
  }
  return compareVersions(server, NEWEST) < 0 ? server : NEWEST;
}

function compareVersions(left: string, right: string): number {
  const parts = (text: string) => text.split(".").map(Number);
  const [leftMajor = 0, leftMinor = 0] = parts(left);
  const [rightMajor = 0, rightMinor = 0] = parts(right);
  return leftMajor - rightMajor || leftMinor - rightMinor;
}

// An agent of our own: Node's global one closes idle sockets after 5 s, and its pool would outlive the engine.
function agentFor(endpoint: Endpoint): HttpAgent {
  const options = { keepAlive: true, keepAliveMsecs: 15_000 };
  const agent =
    endpoint.kind === "tcp" && endpoint.tls !== undefined ? new HttpsAgent(options) : new HttpAgent(options);
  // The client library formats its options for a debug log at every request, also when the log is off, and would walk all open
  // sockets through the agent: 75 ms a request with 20 streams open.
  Object.defineProperty(agent, inspect.custom, { value: () => "Agent" });
  return agent;
}

// Every key is given, since the library fills the missing ones from the process's environment.
function client(endpoint: Endpoint, agent: HttpAgent, version: string | undefined): Dockerode {
  const tls = endpoint.kind === "tcp" ? endpoint.tls : undefined;
  const options = {
    agent,
    version,
    protocol: tls === undefined ? "http" : "https",
    host: endpoint.kind === "tcp" ? endpoint.host : undefined,
    port: endpoint.kind === "tcp" ? endpoint.port : undefined,
    socketPath: endpoint.kind === "unix" ? endpoint.socketPath : undefined,
    pathPrefix: "/",
    timeout: undefined,
    ca: tls?.ca,
    cert: tls?.cert,
    key: tls?.key,
  };
  return new Dockerode(options as Dockerode.DockerOptions);
}

function connectError(endpoint: Endpoint, thrown: unknown, signal: AbortSignal | undefined): RunnerError {
  if (thrown instanceof RunnerError) return thrown;
  const where = describeEndpoint(endpoint);
  if (signal?.aborted) {
    return new RunnerError("interrupted", "ABORTED", `stopped while connecting to Docker at ${where}`, {
      cause: thrown,
    });
  }
  if (hasCode(thrown, "EACCES") || hasCode(thrown, "EPERM")) {
    return new RunnerError("environment", "DOCKER_PERMISSION", `this user may not use Docker's socket ${where}`, {
      hint: "Run as root, or as a member of the docker group.",
      cause: thrown,
    });
  }
  const why = hasCode(thrown, "ENOENT")
    ? `there is no socket ${where}`
    : hasCode(thrown, "ECONNREFUSED")
      ? `nothing answers at ${where}`
      : thrown instanceof Error && thrown.name === "AbortError"
        ? `the daemon at ${where} did not answer in time`
        : statusOf(thrown) === undefined
          ? `${where}: ${messageOf(thrown)}`
          : `what answers at ${where} is no Docker engine: ${messageOf(thrown).trim()}`;
  return new RunnerError("environment", "NO_DOCKER", `no Docker engine: ${why}`, {
    hint: "Run `runner doctor --fix`.",
    cause: thrown,
  });
}
