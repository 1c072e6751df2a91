import { execa } from "execa";
import { RunnerError } from "../base/errors.ts";
import { buildError } from "./build-errors.ts";

export interface HostPackagesRequest {
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Installs Debian packages on the host when a program is missing.
 * @param program The program that tells whether they are needed.
 * @throws RunnerError `TOOL_MISSING` on a host without apt or without root; `PACKAGE_INDEX_UNREACHABLE` when apt cannot get them.
 */
export async function installPackages(
  packages: readonly string[],
  program: string,
  request: HostPackagesRequest,
): Promise<void> {
  if (await isInstalled(program)) return;
  const root = process.getuid?.() === 0;
  if (!root || !(await isInstalled("apt-get"))) {
    throw new RunnerError(
      "environment",
      "TOOL_MISSING",
      `${program} is not installed, and building the base image needs it`,
      {
        hint: root
          ? `Install ${program} with the host's package manager.`
          : `Run as root, or install it: apt-get install ${packages.join(" ")}.`,
      },
    );
  }
  request.report(`${program} is missing on this machine: installing ${packages.join(", ")} with apt-get`);
  const what = `installing ${packages.join(", ")}`;
  // A machine whose package index is stale or absent needs the update; one that has it needs only the second step's fetch.
  await apt(["-q", "update"], what, request);
  await apt(["-q", "install", "-y", "--no-install-recommends", ...packages], what, request);
}

async function apt(words: readonly string[], what: string, request: HostPackagesRequest): Promise<void> {
  const result = await execa("apt-get", words, {
    all: true,
    reject: false,
    stdin: "ignore",
    env: { DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C.UTF-8" },
    ...(request.signal === undefined ? {} : { cancelSignal: request.signal }),
  });
  if (result.isCanceled) throw new RunnerError("interrupted", "INTERRUPTED", `${what} was interrupted`);
  if (!result.failed) return;
  const log = (result.all ?? "").split("\n");
  throw buildError({
    what,
    log,
    message: `apt-get ${words[1]} ended with ${result.exitCode ?? "an error"}`,
    network: true,
  });
}

/** True when a program of this name can be started. */
async function isInstalled(program: string): Promise<boolean> {
  const result = await execa(program, ["--version"], { stdio: "ignore", reject: false });
  return result.code !== "ENOENT";
}
