import { randomUUID } from "node:crypto";
import { type Abortable, apiError, checkAborted } from "./api-error.ts";
import type { Engine } from "./engine.ts";
import type { Labels } from "./ownership.ts";
import { removeVolume } from "./remove.ts";

export interface VolumeOptions extends Abortable {
  readonly labels: Labels;
  /** In memory, with a hard size limit; counts against the memory limit of the container that writes. Content is lost when unmounted. */
  readonly tmpfs?: { readonly bytes: number; readonly inodes?: number; readonly mode?: number };
}

/** A named volume of our own; disposing it removes it, so what mounts it goes first. */
export interface Volume extends AsyncDisposable {
  readonly name: string;
}

/** Makes an empty volume. */
export async function createVolume({ docker }: Engine, { labels, tmpfs, signal }: VolumeOptions): Promise<Volume> {
  checkAborted(signal, "create a volume");
  const name = `jacobian-runner-${randomUUID()}`;
  try {
    // Without the signal: an abandoned request could leave a volume behind.
    await docker.createVolume({
      Name: name,
      Labels: { ...labels },
      ...(tmpfs === undefined ? {} : { DriverOpts: { type: "tmpfs", device: "tmpfs", o: tmpfsOptions(tmpfs) } }),
    });
  } catch (thrown) {
    await removeVolume(docker, name).catch(() => undefined);
    throw apiError("create a volume", thrown);
  }
  let removal: Promise<void> | undefined;
  return {
    name,
    [Symbol.asyncDispose]: () => {
      removal ??= removeVolume(docker, name);
      return removal;
    },
  };
}

function tmpfsOptions({ bytes, inodes, mode }: NonNullable<VolumeOptions["tmpfs"]>): string {
  return [
    `size=${bytes}`,
    ...(inodes === undefined ? [] : [`nr_inodes=${inodes}`]),
    ...(mode === undefined ? [] : [`mode=${mode.toString(8)}`]),
  ].join(",");
}
