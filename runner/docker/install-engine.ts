import { existsSync } from "node:fs";
import { execa } from "execa";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, checkAborted } from "./api-error.ts";

const PACKAGES = ["docker.io", "iptables"];

export interface InstallOptions extends Abortable {
  readonly report: (line: string) => void;
}

/**
 * Installs Debian's Docker engine.
 * @throws RunnerError `DOCKER_INSTALL` with the last words of apt-get, or when this is no Debian or the user is not root.
 */
export async function installEngine({ report, signal }: InstallOptions): Promise<void> {
  if (!existsSync("/usr/bin/apt-get")) {
    throw new RunnerError(
      "environment",
      "DOCKER_INSTALL",
      "Docker can be installed here only with apt-get, which is missing",
      {
        hint: "Install Docker 20.10 or newer as your system's manual says, and start it.",
      },
    );
  }
  const install = ["install", "-y", "--no-install-recommends", ...PACKAGES];
  report(`installing Docker: apt-get ${install.join(" ")}`);
  if ((await aptGet(install, signal)).ok) return;
  // The package lists may be missing or older than what the mirror still has.
  report("apt-get update, then once more");
  const updated = await aptGet(["update"], signal);
  const installed = await aptGet(install, signal);
  if (installed.ok) return;
  const words = [updated.ok ? "" : updated.output, installed.output].filter((text) => text !== "").join("\n");
  throw new RunnerError("environment", "DOCKER_INSTALL", `apt-get could not install ${PACKAGES.join(" ")}:\n${words}`, {
    hint: "See that a Debian mirror can be reached, or install Docker by hand.",
  });
}

async function aptGet(
  args: readonly string[],
  signal: AbortSignal | undefined,
): Promise<{ ok: boolean; output: string }> {
  checkAborted(signal, "install Docker");
  const result = await execa("apt-get", args, {
    all: true,
    reject: false,
    stdin: "ignore",
    env: { DEBIAN_FRONTEND: "noninteractive" },
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
  checkAborted(signal, "install Docker");
  return { ok: !result.failed, output: (result.all || result.shortMessage || "").slice(-2000).trim() };
}
