import { RunnerError } from "../base/errors.ts";

const DISK = /no space left on device|ENOSPC/i;
const RATE = /toomanyrequests|429 Too Many Requests|rate limit/i;
const CERTIFICATE =
  /self[- ]signed certificate|CERTIFICATE_VERIFY_FAILED|unable to get local issuer|unknown authority/i;
const NETWORK = new RegExp(
  [
    "temporary failure (?:in name resolution|resolving)",
    "could not resolve",
    "name or service not known",
    "no such host",
    "server misbehaving",
    "could not connect to",
    "failed to establish a new connection",
    "connection (?:refused|reset|timed out)",
    "connect(?:ion)? timeout",
    "network is unreachable",
    "no route to host",
    "i/o timeout",
    "EAI_AGAIN|ENOTFOUND|ECONNREFUSED|ETIMEDOUT|ENETUNREACH",
    "unable to connect to",
    "TLS handshake",
    "read timed out",
  ].join("|"),
  "i",
);
const REGISTRY =
  /pull access denied|manifest (?:unknown|for .* not found)|failed to resolve source metadata|registry-1\.docker\.io|\/v2\/|requested access to the resource is denied/i;

export interface BuildFailure {
  /** What was being built or fetched, for the message. */
  readonly what: string;
  /** The last lines of output. */
  readonly log: readonly string[];
  /** The engine's or the program's own one-line message. */
  readonly message: string;
  readonly cause?: unknown;
  /** True where reaching the network is the tool's own doing, so that a network failure is the environment's and not the recipe's. */
  readonly network: boolean;
}

/** One error for a failed build, told apart by what the user can do about it: disk, registry, package index, private CA, or the recipe. */
export function buildError(failure: BuildFailure): RunnerError {
  const text = [...failure.log, failure.message].join("\n");
  const tail = failure.log.slice(-20).join("\n");
  const make = (kind: "environment" | "input", code: string, said: string, hint: string): RunnerError =>
    new RunnerError(kind, code, `${failure.what}: ${said}`, {
      hint,
      cause: failure.cause,
      details: { message: failure.message, log: tail },
    });
  if (DISK.test(text)) {
    return make(
      "environment",
      "DISK_FULL",
      "no space left on the engine's disk",
      "Free disk space (docker system df shows where it went) and try again.",
    );
  }
  if (RATE.test(failure.message)) {
    return make(
      "environment",
      "REGISTRY_RATE_LIMIT",
      `the registry refuses more requests: ${failure.message}`,
      "Wait, log in to the registry, or map the image to a mirror with --image-map.",
    );
  }
  if (REGISTRY.test(failure.message)) {
    return make(
      "environment",
      "REGISTRY_UNREACHABLE",
      `cannot get the base image: ${failure.message}`,
      "Make the registry reachable, or name a local image with --image-map FROM=TO.",
    );
  }
  const cause =
    firstMatch(failure.log, CERTIFICATE) ?? (CERTIFICATE.test(failure.message) ? failure.message : undefined);
  if (cause !== undefined && failure.network) {
    return make(
      "environment",
      "CERTIFICATE_UNTRUSTED",
      `a package index's certificate is not trusted: ${cause}`,
      "Name the private CA's file in SSL_CERT_FILE or NODE_EXTRA_CA_CERTS.",
    );
  }
  const lost = firstMatch(failure.log, NETWORK) ?? (NETWORK.test(failure.message) ? failure.message : undefined);
  if (lost !== undefined && failure.network) {
    return make(
      "environment",
      "PACKAGE_INDEX_UNREACHABLE",
      `a package index cannot be reached: ${lost}`,
      "Check the network, the resolver and the proxy variables, then try again; what is already built is kept.",
    );
  }
  return make(
    "input",
    "BUILD_FAILED",
    `${failure.message}${tail === "" ? "" : `\n${tail}`}`,
    "The lines above are the end of the build's output.",
  );
}

function firstMatch(lines: readonly string[], pattern: RegExp): string | undefined {
  return lines
    .find((line) => pattern.test(line))
    ?.trim()
    .slice(0, 300);
}
