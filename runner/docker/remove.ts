import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { apiError, isGone, statusOf } from "./api-error.ts";

const ATTEMPTS = 8;

/** Removes a container, running or not, with its anonymous volumes. One that is not there is fine. */
export async function removeContainer(docker: Dockerode, id: string): Promise<void> {
  await persist("remove a container", () => docker.getContainer(id).remove({ force: true, v: true }));
}

/** Removes a volume. One that is not there is fine. */
export async function removeVolume(docker: Dockerode, name: string): Promise<void> {
  await persist("remove a volume", () => docker.getVolume(name).remove());
}

/** Removes an image, and nothing else: without `noprune` the engine would take untagged parents along. */
export async function removeImage(docker: Dockerode, id: string): Promise<void> {
  await persist("remove a snapshot", () => docker.getImage(id).remove({ noprune: true }));
}

/** Removes a network; containers still on it are disconnected first. One that is not there is fine. */
export async function removeNetwork(docker: Dockerode, id: string): Promise<void> {
  const network = docker.getNetwork(id);
  await persist("remove a network", async () => {
    try {
      await network.remove();
    } catch (thrown) {
      if (statusOf(thrown) !== 403 && statusOf(thrown) !== 409) throw thrown;
      const { Containers: containers } = await network.inspect();
      await Promise.allSettled(
        Object.keys(containers ?? {}).map((container) => network.disconnect({ Container: container, Force: true })),
      );
      await network.remove();
    }
  });
}

/** Repeats while the engine says that the thing is busy or already going; the engine's own removal is not atomic. */
async function persist(action: string, remove: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await remove();
      return;
    } catch (thrown) {
      if (isGone(thrown)) return;
      const transient = statusOf(thrown) === 409 || /in progress|busy|in use/i.test(String(thrown));
      if (!transient || attempt >= ATTEMPTS) throw apiError(action, thrown);
      await sleep(25 * 2 ** attempt);
    }
  }
}
