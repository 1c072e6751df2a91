import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type Docker from "dockerode";
import { extract } from "tar-stream";
import { z } from "zod";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";

/** One regular file of an image's layers. */
export interface LayerFile {
  /** Absolute path in the image. */
  readonly path: string;
  readonly content: AsyncIterable<Buffer>;
}

const manifestSchema = z.array(z.looseObject({ Layers: z.array(z.string()) })).min(1);
const MAX_MANIFEST_BYTES = 1024 * 1024;

/**
 * Every version of every regular file in the chosen layers of an image, bottom layer first as the engine exports them; whiteouts are
 * left out. Streams the export twice: its table of layers comes last.
 */
export async function* layerFiles(
  docker: Docker,
  imageId: string,
  wanted: (index: number) => boolean,
): AsyncGenerator<LayerFile> {
  const layers = await layerPaths(docker, imageId);
  const chosen = new Set(layers.filter((_, index) => wanted(index)));
  if (chosen.size === 0) return;
  for await (const entry of entriesOf(await exportOf(docker, imageId))) {
    if (!chosen.has(entry.header.name)) {
      entry.resume();
      continue;
    }
    for await (const file of entriesOf(entry)) {
      const { name, type } = file.header;
      if ((type === "file" || type === "contiguous-file") && !/(^|\/)\.wh\./.test(name)) {
        yield { path: `/${name.replace(/^(\.?\/)+/, "")}`, content: file as AsyncIterable<Buffer> };
      }
      file.resume();
    }
  }
}

async function layerPaths(docker: Docker, imageId: string): Promise<string[]> {
  let layers: string[] | undefined;
  for await (const entry of entriesOf(await exportOf(docker, imageId))) {
    if (entry.header.name === "manifest.json" && (entry.header.size ?? 0) <= MAX_MANIFEST_BYTES) {
      const chunks: Buffer[] = [];
      for await (const chunk of entry) chunks.push(chunk as Buffer);
      const source = `the manifest of image ${imageId}`;
      layers = parseInput(manifestSchema, parseStrictJson(Buffer.concat(chunks), { source }), source)[0]?.Layers;
    } else entry.resume();
  }
  return layers ?? [];
}

async function exportOf(docker: Docker, imageId: string): Promise<Readable> {
  return (await docker.getImage(imageId).get()) as Readable;
}

function entriesOf(source: AsyncIterable<unknown>) {
  const tar = extract();
  // A source that fails makes the reading of its entries fail.
  pipeline(source, tar).catch((error: unknown) =>
    tar.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  return tar;
}
