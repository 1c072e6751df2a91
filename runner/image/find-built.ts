import type Docker from "dockerode";
import { z } from "zod";
import { type Digest, isDigest } from "../base/digest.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { digestPackages, type ImagesLock, type LockedImage } from "./lock.ts";
import { INPUT_LABEL, PACKAGES_LABEL, repositoryOf, tagOf } from "./names.ts";
import { type ImagePackage, packageSchema } from "./packages.ts";

/** What the engine says about an image of ours. */
export interface EngineImage {
  readonly imageId: Digest;
  readonly inputDigest: Digest;
  readonly packages: readonly ImagePackage[];
  readonly diffIds: readonly Digest[];
}

/** The image of a lock entry, when it was made from these inputs and the engine still has it. */
export async function findLocked(
  docker: Docker,
  lock: ImagesLock | undefined,
  name: string,
  inputDigest: Digest,
): Promise<LockedImage | undefined> {
  const entry = lock?.images[name];
  if (entry === undefined || entry.inputDigest !== inputDigest) return undefined;
  const image = await inspectOwn(docker, entry.imageId);
  return image?.inputDigest === inputDigest ? entry : undefined;
}

/** An image that another checkout, or an interrupted build, left in the engine for exactly these inputs. */
export async function findTagged(docker: Docker, name: string, inputDigest: Digest): Promise<EngineImage | undefined> {
  const image = await inspectOwn(docker, `${repositoryOf(name)}:${tagOf(inputDigest)}`);
  return image?.inputDigest === inputDigest ? image : undefined;
}

/** Makes `latest` name an image again, where another checkout or another version of the project has moved it. */
export async function restoreLatest(docker: Docker, name: string, imageId: Digest): Promise<void> {
  const repo = repositoryOf(name);
  const latest = await inspectOwn(docker, `${repo}:latest`);
  if (latest?.imageId !== imageId) await docker.getImage(imageId).tag({ repo, tag: "latest" });
}

/** Reads an image's labels; undefined when there is no such image or it is not one of ours. */
export async function inspectOwn(docker: Docker, reference: string): Promise<EngineImage | undefined> {
  let info: Docker.ImageInspectInfo;
  try {
    info = await docker.getImage(reference).inspect();
  } catch (thrown) {
    if (thrown instanceof Error && "statusCode" in thrown && thrown.statusCode === 404) return undefined;
    throw thrown;
  }
  const labels: Readonly<Record<string, string>> = info.Config?.Labels ?? {};
  const [inputDigest, packages] = [labels[INPUT_LABEL], labels[PACKAGES_LABEL]];
  const diffIds = info.RootFS.Layers ?? [];
  if (!isDigest(inputDigest) || packages === undefined || !isDigest(info.Id) || !diffIds.every(isDigest))
    return undefined;
  const list = z
    .array(packageSchema)
    .safeParse(parseStrictJson(packages, { source: `${reference}: ${PACKAGES_LABEL}` }));
  return list.success ? { imageId: info.Id, inputDigest, packages: list.data, diffIds } : undefined;
}

/** The digest of an engine image's package list. */
export function packagesDigestOf(image: EngineImage): Digest {
  return digestPackages(image.packages);
}
