import type Docker from "dockerode";
import { z } from "zod";
import { type Digest, isDigest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { buildError } from "./build-errors.ts";
import { followMessages } from "./engine-stream.ts";
import { type ImageMap, mapImage, type ReplacedImage } from "./image-map.ts";
import type { ImagesLock } from "./lock.ts";
import { ownName } from "./names.ts";

/** An image that something stands on or runs from, resolved once. */
export interface ResolvedImage {
  /** As written, variables filled in. */
  readonly reference: string;
  /** What the image map put in its place; null when nothing. */
  readonly replaced: ReplacedImage | null;
  readonly imageId: Digest;
  /** What names it across machines: the configuration digest of an image of ours, a registry digest, else the engine's id. */
  readonly identity: string;
}

export interface ResolveOptions {
  readonly maps: readonly ImageMap[];
  /** The local lock; our own images are found by it and never pulled. */
  readonly lock: ImagesLock | undefined;
  readonly report?: (line: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * Resolves an image reference to an id: image map first, then our own images by the local lock, then the engine, then the registry.
 * @throws RunnerError `IMAGE_NOT_BUILT`, `REGISTRY_UNREACHABLE`, `REGISTRY_RATE_LIMIT` or `DISK_FULL`.
 */
export async function resolveImage(docker: Docker, reference: string, options: ResolveOptions): Promise<ResolvedImage> {
  const to = mapImage(reference, options.maps);
  const replaced = to === undefined || to === reference ? null : { from: reference, to };
  const wanted = to ?? reference;
  const name = ownName(wanted);
  if (name !== undefined) {
    const locked = options.lock?.images[name];
    if (locked === undefined) {
      throw new RunnerError(
        "environment",
        "IMAGE_NOT_BUILT",
        `the image ${wanted} has not been built on this machine`,
        {
          hint: "Run `runner images build`.",
        },
      );
    }
    return { reference, replaced, imageId: locked.imageId, identity: locked.configDigest };
  }
  const seen = (await inspect(docker, wanted)) ?? (await pull(docker, wanted, options));
  const registry = seen.repoDigests.find(
    (digest) => wanted.includes("@") && digest.endsWith(wanted.slice(wanted.indexOf("@"))),
  );
  return { reference, replaced, imageId: seen.imageId, identity: registry ?? seen.imageId };
}

interface Seen {
  readonly imageId: Digest;
  readonly repoDigests: readonly string[];
}

const info = z.looseObject({
  Id: z.custom<Digest>(isDigest),
  RepoDigests: z.array(z.string()).nullish(),
});

async function inspect(docker: Docker, reference: string): Promise<Seen | undefined> {
  try {
    const seen = info.parse(await docker.getImage(reference).inspect());
    return { imageId: seen.Id, repoDigests: seen.RepoDigests ?? [] };
  } catch (thrown) {
    if (thrown instanceof Error && "statusCode" in thrown && thrown.statusCode === 404) return undefined;
    throw thrown;
  }
}

async function pull(docker: Docker, reference: string, options: ResolveOptions): Promise<Seen> {
  options.signal?.throwIfAborted();
  options.report?.(`pulling ${reference}`);
  const failed = await tryPull(docker, reference, options.signal);
  const seen = failed === null ? await inspect(docker, reference) : undefined;
  if (seen !== undefined) return seen;
  options.signal?.throwIfAborted();
  const error = buildError({
    what: `the image ${reference}`,
    log: [],
    message: failed ?? "the engine did not keep it",
    network: true,
  });
  if (error.code === "DISK_FULL" || error.code === "REGISTRY_RATE_LIMIT") throw error;
  throw new RunnerError(
    "environment",
    "REGISTRY_UNREACHABLE",
    `the image ${reference} is not in the engine and cannot be pulled: ${failed ?? "the engine did not keep it"}`,
    {
      hint: `Make the registry reachable, or name a local image: --image-map ${reference}=IMAGE.`,
    },
  );
}

async function tryPull(docker: Docker, reference: string, signal: AbortSignal | undefined): Promise<string | null> {
  try {
    const stream: NodeJS.ReadableStream = await docker.pull(reference, {
      platform: "linux/amd64",
      ...(signal === undefined ? {} : { abortSignal: signal }),
    });
    return await followMessages(stream, () => {});
  } catch (thrown) {
    return messageOf(thrown);
  }
}
