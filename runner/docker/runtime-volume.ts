import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, apiError, checkAborted, isGone, statusOf } from "./api-error.ts";
import { packArchive } from "./archive/pack.ts";
import type { Engine } from "./engine.ts";
import { isAlive, LABEL, LABEL_PREFIX, ownerLabels, ownerOf, PROJECT, thisOwner } from "./ownership.ts";
import { removeContainer, removeVolume } from "./remove.ts";

/** The role label of volumes that outlive runs. They have no owner, so the reaper never takes them. */
export const RUNTIME_ROLE = "agent-runtime";

const FILL_LABEL = `${LABEL_PREFIX}fill`;
const IMAGE_LABEL = `${LABEL_PREFIX}image`;
const PATH_LABEL = `${LABEL_PREFIX}path`;
/** Stands in a volume that was filled completely; written last. */
const MARKER = ".jacobian-runner-filled";
const WAIT_MS = 250;
const PATIENCE_MS = 600_000;

/**
 * The name of a volume with the content of `path` in the image, filled once and used again by every later run; mount it read-only.
 * Processes that ask at the same time fill it once: the container that fills has a fixed name, which the engine gives only one of
 * them. A fill that was cut off is found by its missing marker and begun anew.
 * @param image image id (`sha256:…`).
 */
export async function fillVolumeFromImage(
  engine: Engine,
  image: string,
  path: string,
  { signal }: Abortable = {},
): Promise<string> {
  const { docker } = engine;
  const key = createHash("sha256")
    .update(JSON.stringify([image, path]))
    .digest("hex")
    .slice(0, 16);
  const name = `jacobian-runner-runtime-${key}`;
  const holder = `jacobian-runner-fill-${key}`;
  const begun = performance.now();
  for (;;) {
    checkAborted(signal, "prepare the agent's runtime volume");
    const filler = await createFiller(engine, { name, image, path, holder });
    if (filler === "taken") {
      if (performance.now() - begun > PATIENCE_MS) throw impatient(holder);
      await removeDeadHolder(docker, holder);
      await sleep(WAIT_MS, undefined, { signal }).catch((thrown) => {
        throw apiError("wait for the agent's runtime volume", thrown, signal);
      });
      continue;
    }
    try {
      if (await isMarked(filler.container, path)) return name;
      if (await wasFilledBy(docker, name, filler.nonce)) {
        const marker = packArchive([{ type: "file", path: MARKER, content: `${image}\n` }]);
        await filler.container.putArchive(marker, { path });
        return name;
      }
    } catch (thrown) {
      throw apiError("fill the agent's runtime volume", thrown, signal);
    } finally {
      await removeContainer(docker, filler.container.id);
    }
    // A leftover of a fill that was cut off.
    await removeVolume(docker, name);
  }
}

/** Removes the runtime volumes of images that are not kept; gives the names of those that are gone, and of those that a container uses. */
export async function pruneRuntimeVolumes(
  { docker }: Engine,
  keep: (image: string) => boolean,
  { signal }: Abortable = {},
): Promise<{ readonly removed: readonly string[]; readonly inUse: readonly string[] }> {
  const filters = { label: [`${LABEL.project}=${PROJECT}`, `${LABEL.role}=${RUNTIME_ROLE}`] };
  const { Volumes: volumes } = await docker.listVolumes({ filters });
  const removed: string[] = [];
  const inUse: string[] = [];
  for (const { Name: name, Labels: labels } of volumes ?? []) {
    checkAborted(signal, "remove runtime volumes");
    if (keep(labels?.[IMAGE_LABEL] ?? "")) continue;
    try {
      await docker.getVolume(name).remove();
      removed.push(name);
    } catch (thrown) {
      if (statusOf(thrown) === 409) inUse.push(name);
      else if (!isGone(thrown)) throw apiError("remove a runtime volume", thrown, signal);
    }
  }
  return { removed: removed.sort(), inUse: inUse.sort() };
}

/** Makes the container whose creation copies the image's files into the volume, when the volume is new. */
async function createFiller(
  { docker }: Engine,
  { name, image, path, holder }: { name: string; image: string; path: string; holder: string },
): Promise<"taken" | { container: Dockerode.Container; nonce: string }> {
  const nonce = randomUUID();
  const labels = {
    [LABEL.project]: PROJECT,
    [LABEL.role]: RUNTIME_ROLE,
    [IMAGE_LABEL]: image,
    [PATH_LABEL]: path,
    [FILL_LABEL]: nonce,
  };
  try {
    const container = await docker.createContainer({
      name: holder,
      Image: image,
      // Never started; it only has to name a program.
      Entrypoint: ["/bin/true"],
      Labels: { ...ownerLabels(await thisOwner(), { run: "none", role: "runtime-filler" }) },
      HostConfig: {
        NetworkMode: "none",
        Mounts: [
          {
            Type: "volume",
            Source: name,
            Target: path,
            VolumeOptions: { NoCopy: false, Labels: labels, DriverConfig: { Name: "local", Options: {} } },
          },
        ],
      },
    });
    return { container, nonce };
  } catch (thrown) {
    if (statusOf(thrown) === 409) return "taken";
    throw apiError("fill the agent's runtime volume", thrown);
  }
}

/** A process that died while it filled leaves its container behind, and would be waited for in vain. */
async function removeDeadHolder(docker: Dockerode, holder: string): Promise<void> {
  try {
    const { Id: id, Config: config } = await docker.getContainer(holder).inspect();
    const owner = ownerOf(config.Labels);
    if (owner !== undefined && !(await isAlive(owner, await thisOwner()))) await removeContainer(docker, id);
  } catch (thrown) {
    if (!isGone(thrown)) throw apiError("look for who fills the agent's runtime volume", thrown);
  }
}

function impatient(holder: string): RunnerError {
  return new RunnerError(
    "environment",
    "RUNTIME_VOLUME",
    `another process has been filling the runtime volume for too long`,
    {
      hint: `See what the container ${holder} belongs to, and remove it.`,
    },
  );
}

async function isMarked(container: Dockerode.Container, path: string): Promise<boolean> {
  try {
    await container.infoArchive({ path: `${path}/${MARKER}` });
    return true;
  } catch (thrown) {
    if (isGone(thrown)) return false;
    throw thrown;
  }
}

/** True when this very attempt made the volume: its creation returned, so the copy is whole. */
async function wasFilledBy(docker: Dockerode, name: string, nonce: string): Promise<boolean> {
  const { Labels: labels } = await docker.getVolume(name).inspect();
  return labels?.[FILL_LABEL] === nonce;
}
