import type Dockerode from "dockerode";
import { type Abortable, apiError, checkAborted } from "./api-error.ts";
import { LABEL, type Labels } from "./ownership.ts";
import { removeImage } from "./remove.ts";

/** The role label of temporary images; the reaper takes images with no other role. */
export const SNAPSHOT_ROLE = "snapshot";

export interface CommitOptions extends Abortable {
  /** Owner labels; the role is set here. */
  readonly labels: Labels;
}

/** A temporary image; disposing it removes it. */
export interface Snapshot extends AsyncDisposable {
  readonly id: string;
}

/** Makes an image of a container's filesystem. A running container is paused meanwhile; volumes are not part of it. */
export async function commitContainer(
  docker: Dockerode,
  container: Dockerode.Container,
  { labels, signal }: CommitOptions,
): Promise<Snapshot> {
  checkAborted(signal, "take a snapshot of a container");
  let id: string;
  try {
    // Without the signal: an abandoned request would leave an image whose id nobody knows.
    const committed: { readonly Id: string } = await container.commit({
      _query: { container: container.id, pause: true },
      _body: { Labels: { ...labels, [LABEL.role]: SNAPSHOT_ROLE } },
    });
    id = committed.Id;
  } catch (thrown) {
    throw apiError("take a snapshot of a container", thrown, signal);
  }
  let removal: Promise<void> | undefined;
  return {
    id,
    [Symbol.asyncDispose]: () => {
      removal ??= removeImage(docker, id);
      return removal;
    },
  };
}
