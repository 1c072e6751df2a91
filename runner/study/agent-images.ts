import type { ModelAgent } from "../agent/model-agent.ts";
import { otherRuntimes } from "../agent/registry.ts";
import { RunnerError } from "../base/errors.ts";
import type { OwnImages } from "./task-images.ts";

/**
 * The runner's own images that a study of this agent binds: without the runtimes of other agents, so that another release of one of those
 * changes nothing here.
 * @throws RunnerError `IMAGES_NOT_BUILT` when the agent's own runtime is not on this machine.
 */
export function imagesForAgent(own: OwnImages, agent: ModelAgent | string): OwnImages {
  const name = typeof agent === "string" ? agent : agent.name;
  const unused = otherRuntimes(name);
  const ids = new Map([...own.ids].filter(([image]) => !unused.includes(image)));
  if (typeof agent !== "string" && !ids.has(agent.runtimeImage)) {
    throw new RunnerError("environment", "IMAGES_NOT_BUILT", `the runtime of agent ${name} is not on this machine`, {
      hint: `Run \`runner images build --only ${agent.runtimeImage}\`.`,
    });
  }
  const images = Object.fromEntries(Object.entries(own.lock.images).filter(([image]) => !unused.includes(image)));
  return { ...own, ids, lock: { ...own.lock, images } };
}
