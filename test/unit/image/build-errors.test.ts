import { describe, expect, it } from "vitest";
import { buildError } from "../../../runner/image/build-errors.ts";

const error = (message: string, log: string[] = [], network = true) => {
  const { kind, code, message: said } = buildError({ what: "building x", message, log, network });
  return { kind, code, said };
};

describe("buildError", () => {
  it.each<[string, string, string[]]>([
    ["DISK_FULL", "failed to copy files: write /var/lib/docker/x: no space left on device", []],
    ["DISK_FULL", "the build script ended with 1", ["OSError: [Errno 28] No space left on device"]],
    ["REGISTRY_RATE_LIMIT", "toomanyrequests: You have reached your pull rate limit", []],
    ["REGISTRY_UNREACHABLE", "pull access denied for nothing/here, repository does not exist", []],
    [
      "REGISTRY_UNREACHABLE",
      'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
      [],
    ],
    ["REGISTRY_UNREACHABLE", "manifest for debian:nonesuch not found: manifest unknown", []],
    [
      "CERTIFICATE_UNTRUSTED",
      "ended with 1",
      ["SSLError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed')"],
    ],
    [
      "PACKAGE_INDEX_UNREACHABLE",
      "ended with 100",
      ["Err:1 http://mirror.example.org", "  Temporary failure resolving 'mirror.example.org'"],
    ],
    [
      "PACKAGE_INDEX_UNREACHABLE",
      "ended with 1",
      ["Failed to establish a new connection: [Errno 111] Connection refused"],
    ],
  ])("says %s when the engine says %j and the output is %j", (code, message, log) => {
    expect(error(message, log)).toMatchObject({ kind: "environment", code });
  });

  it("gives the end of the output for a build that fails by its own doing", () => {
    expect(error("The command '/bin/sh -c make' returned a non-zero code: 2", ["cc -c a.c", "a.c:1: error"])).toEqual({
      kind: "input",
      code: "BUILD_FAILED",
      said: "building x: The command '/bin/sh -c make' returned a non-zero code: 2\ncc -c a.c\na.c:1: error",
    });
  });

  it("does not blame the network of a build that was to have none", () => {
    expect(error("ended with 6", ["curl: (6) Could not resolve host: example.org"], false)).toMatchObject({
      code: "BUILD_FAILED",
    });
  });
});
