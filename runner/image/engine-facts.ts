import type Docker from "dockerode";
import { z } from "zod";
import { RunnerError } from "../base/errors.ts";
import type { ImagesLock } from "./lock.ts";

const schema = z.looseObject({ Version: z.string(), ApiVersion: z.string(), Os: z.string(), Arch: z.string() });

/**
 * The engine's version and platform.
 * @throws RunnerError `ENGINE_PLATFORM` when it does not run Linux on x86-64, which is what the images are.
 */
export async function engineFacts(docker: Docker): Promise<ImagesLock["engine"]> {
  const facts = schema.parse(await docker.version());
  if (facts.Os !== "linux" || facts.Arch !== "amd64") {
    throw new RunnerError(
      "environment",
      "ENGINE_PLATFORM",
      `the engine runs ${facts.Os}/${facts.Arch}; the images are for linux/amd64`,
      {
        hint: "Name an engine on x86-64 Linux in DOCKER_HOST.",
      },
    );
  }
  return { version: facts.Version, apiVersion: facts.ApiVersion, os: facts.Os, arch: facts.Arch };
}
