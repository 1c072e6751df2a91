import type Docker from "dockerode";
import { isDigest } from "../base/digest.ts";
import { INPUT_LABEL } from "./names.ts";

export interface PruneImagesOptions {
  readonly docker: Docker;
  /** Images that stay, by id: what the lock names. */
  readonly keep: ReadonlySet<string>;
  /** Only images that also carry this label, such as `name=value`. */
  readonly label?: string;
  readonly signal?: AbortSignal;
}

export interface PrunedImages {
  /** Names of what is gone, or ids where an image had no name. */
  readonly removed: readonly string[];
  /** Images that containers still use, and that were left. */
  readonly inUse: readonly string[];
}

/**
 * Removes the images that the runner made and that nothing needs: earlier versions of its own, and every task's, which the next run
 * builds again. An image that is kept, or that a container uses, stays, and so do the layers under it. Images of others are never touched.
 */
export async function pruneImages({ docker, keep, label, signal }: PruneImagesOptions): Promise<PrunedImages> {
  const filters = JSON.stringify({ label: [INPUT_LABEL, ...(label === undefined ? [] : [label])] });
  const abort = signal === undefined ? {} : { abortSignal: signal };
  const [images, containers] = await Promise.all([
    docker.listImages({ filters, ...abort }),
    docker.listContainers({ all: true, ...abort }),
  ]);
  const used = new Set(containers.map(({ ImageID }) => ImageID));
  const removed: string[] = [];
  const inUse: string[] = [];
  for (const { Id: id, RepoTags } of images) {
    signal?.throwIfAborted();
    if (!isDigest(id) || keep.has(id)) continue;
    const names = (RepoTags ?? []).filter((name) => name !== "<none>:<none>");
    if (used.has(id)) inUse.push(...(names.length === 0 ? [id] : names));
    else for (const name of names.length === 0 ? [id] : names) if (await removeName(docker, name)) removed.push(name);
  }
  return { removed: removed.sort(), inUse: inUse.sort() };
}

/** False when the name is gone already, or something stands on the image. */
async function removeName(docker: Docker, name: string): Promise<boolean> {
  try {
    await docker.getImage(name).remove();
    return true;
  } catch (thrown) {
    if (thrown instanceof Error && "statusCode" in thrown && (thrown.statusCode === 404 || thrown.statusCode === 409))
      return false;
    throw thrown;
  }
}
