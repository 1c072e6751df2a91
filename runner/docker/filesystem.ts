import type Dockerode from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { type Abortable, apiError } from "./api-error.ts";

/** A path that differs from the image. */
export interface ChangedPath {
  readonly path: string;
  readonly change: "modified" | "added" | "deleted";
}

/** A volume made for an image's VOLUME line. */
export interface AnonymousVolume {
  readonly name: string;
  readonly target: string;
}

const CHANGES = ["modified", "added", "deleted"] as const;

/** Lists what a container's writable layer changes, sorted by path. */
export async function changedPathsOf(
  container: Dockerode.Container,
  { signal }: Abortable = {},
): Promise<ChangedPath[]> {
  try {
    const changes: readonly { Path: string; Kind: number }[] | null = await container.changes({ abortSignal: signal });
    return (changes ?? [])
      .map(({ Path: path, Kind: kind }) => {
        const change = CHANGES[kind];
        if (change === undefined)
          throw new RunnerError("environment", "DOCKER_FAILED", `unknown kind of change ${kind}`);
        return { path, change };
      })
      .sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  } catch (thrown) {
    throw apiError("list a container's changed paths", thrown, signal);
  }
}

/** Counts the bytes of a container's writable layer; the engine walks the layer for it. */
export async function writableBytesOf(container: Dockerode.Container, { signal }: Abortable = {}): Promise<number> {
  const options = { size: true, ...(signal === undefined ? {} : { abortSignal: signal }) };
  let info: { readonly SizeRw?: number };
  try {
    info = (await container.inspect(options)) as { readonly SizeRw?: number };
  } catch (thrown) {
    throw apiError("measure a container's writable layer", thrown, signal);
  }
  // The engine leaves the field out when it is zero.
  return info.SizeRw ?? 0;
}

/** Lists the volumes a container has because its image says VOLUME and nothing was mounted there. */
export async function imageVolumesOf(
  container: Dockerode.Container,
  { signal }: Abortable = {},
): Promise<AnonymousVolume[]> {
  try {
    const info = await container.inspect(signal === undefined ? {} : { abortSignal: signal });
    const ours = new Set((info.HostConfig.Mounts ?? []).map(({ Target: target }) => target));
    return info.Mounts.flatMap(({ Type: type, Name: name, Destination: target }) =>
      type === "volume" && name !== undefined && !ours.has(target) ? [{ name, target }] : [],
    );
  } catch (thrown) {
    throw apiError("list a container's volumes", thrown, signal);
  }
}
