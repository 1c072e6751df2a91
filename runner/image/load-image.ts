import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough, Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type Docker from "dockerode";
import type { Digest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type ImageConfig, imageArchive } from "./archive.ts";
import { buildError } from "./build-errors.ts";
import { followMessages } from "./engine-stream.ts";
import { readTar } from "./tar-entries.ts";
import type { Layer } from "./write-layer.ts";

export interface LoadRequest {
  readonly config: ImageConfig;
  /** The image's own layers on disk; those of its parent are in the engine. */
  readonly layers: readonly Layer[];
  /** Full tags, such as `jacobian-runner/base:latest`. The first one is used to look the image up. */
  readonly tags: readonly [string, ...string[]];
  /** Id of the parent image, or null when `layers` are all there are. */
  readonly parentId: string | null;
  /** A folder for temporary files. */
  readonly workFolder: string;
  readonly signal?: AbortSignal;
}

/**
 * Brings an image into the engine. First without the parent's layers, which engines with classic storage have already; an engine that
 * wants the whole image gets it, with the parent's layers read back from the engine.
 * @returns The engine's id of the image.
 */
export async function loadImage(docker: Docker, request: LoadRequest): Promise<string> {
  const refused = await tryLoad(docker, request, request.layers);
  if (refused === null) return await idOf(docker, request.tags[0]);
  if (request.parentId === null) throw loadError(request, refused);
  const missing = request.config.diffIds.filter((id) => !request.layers.some((layer) => layer.diffId === id));
  const parents = await exportLayers(docker, request.parentId, missing, request.workFolder);
  try {
    const failed = await tryLoad(docker, request, [...parents, ...request.layers]);
    if (failed !== null) throw loadError(request, failed);
  } finally {
    await Promise.all(parents.map((layer) => rm(layer.file, { force: true })));
  }
  return await idOf(docker, request.tags[0]);
}

async function tryLoad(docker: Docker, request: LoadRequest, layers: readonly Layer[]): Promise<string | null> {
  const archive = imageArchive(request.config, layers, request.tags);
  try {
    const options = { quiet: true, ...(request.signal === undefined ? {} : { abortSignal: request.signal }) };
    const stream = await docker.loadImage(archive, options);
    const failed = await followMessages(stream, () => {});
    if (failed !== null) return failed;
    return (await exists(docker, request.tags[0])) ? null : "the engine did not keep the image";
  } catch (thrown) {
    request.signal?.throwIfAborted();
    return messageOf(thrown);
  }
}

async function idOf(docker: Docker, tag: string): Promise<string> {
  return (await docker.getImage(tag).inspect()).Id;
}

async function exists(docker: Docker, reference: string): Promise<boolean> {
  return await docker
    .getImage(reference)
    .inspect()
    .then(
      () => true,
      () => false,
    );
}

function loadError(request: LoadRequest, message: string): RunnerError {
  return buildError({ what: `loading ${request.tags[0]}`, log: [], message, network: false });
}

/** Reads layers of an image back from the engine, as uncompressed tars, in the order asked for. */
export async function exportLayers(
  docker: Docker,
  imageId: string,
  diffIds: readonly Digest[],
  folder: string,
): Promise<Layer[]> {
  const found = new Map<Digest, Layer>();
  const saved = await docker.getImage(imageId).get();
  for await (const entry of readTar(Readable.from(saved as AsyncIterable<Buffer>))) {
    if (entry.type !== "file" || entry.size < 1024 || Buffer.isBuffer(entry.body)) continue;
    const layer = await keepBlob(entry.body, folder);
    if (diffIds.includes(layer.diffId) && !found.has(layer.diffId)) found.set(layer.diffId, layer);
    else await rm(layer.file, { force: true });
  }
  return diffIds.map((id) => {
    const layer = found.get(id);
    if (layer !== undefined) return layer;
    throw new RunnerError("environment", "LAYER_MISSING", `the engine's export of ${imageId} lacks the layer ${id}`, {
      hint: "Remove the image and build again.",
    });
  });
}

async function keepBlob(body: AsyncIterable<Uint8Array>, folder: string): Promise<Layer> {
  const raw = join(folder, `.blob-${process.hrtime.bigint()}`);
  await pipeline(body, createWriteStream(raw));
  const gzip = await isGzip(raw);
  const plain = `${raw}.tar`;
  const hash = createHash("sha256");
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  await pipeline(createReadStream(raw), gzip ? createGunzip() : new PassThrough(), counter, createWriteStream(plain));
  await rm(raw);
  const diffId: Digest = `sha256:${hash.digest("hex")}`;
  const file = join(folder, `${diffId.slice("sha256:".length)}.parent.tar`);
  await rename(plain, file);
  return { file, diffId, bytes };
}

async function isGzip(path: string): Promise<boolean> {
  const handle = await open(path, "r");
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && buffer.readUInt16BE(0) === 0x1f8b;
  } finally {
    await handle.close();
  }
}
