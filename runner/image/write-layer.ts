import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Header } from "tar-stream";
import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import type { LayerEntry } from "./tar-entries.ts";
import { tarStream, type WriteEntry } from "./tar-writer.ts";

/** Moment that stands for "now" in everything we write: 2025-06-15T15:06:40Z, in seconds. */
export const SOURCE_EPOCH = 1_750_000_000;

/** A layer as an uncompressed tar on disk. */
export interface Layer {
  readonly file: string;
  /** Digest of the tar; what an image's configuration calls its diff id. */
  readonly diffId: Digest;
  readonly bytes: number;
}

/**
 * Writes entries as a layer whose bytes depend on them alone: times later than {@link SOURCE_EPOCH} are set to it, owner names are
 * dropped, the rest is kept in the order given.
 * @throws RunnerError `LAYER_ENTRY` for devices, FIFOs, sockets and file capabilities.
 */
export async function writeLayer(
  file: string,
  entries: AsyncIterable<LayerEntry>,
  signal?: AbortSignal,
): Promise<Layer> {
  const hash = createHash("sha256");
  let bytes = 0;
  const counter = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      hash.update(chunk);
      bytes += chunk.length;
      done(null, chunk);
    },
  });
  const archive = tarStream((write) => writeAll(entries, write));
  await pipeline(archive, counter, createWriteStream(file), signal === undefined ? {} : { signal });
  return { file, diffId: `sha256:${hash.digest("hex")}`, bytes };
}

async function writeAll(entries: AsyncIterable<LayerEntry>, write: WriteEntry): Promise<void> {
  for await (const entry of entries) {
    await write(headerOf(entry), entry.type === "file" ? entry.body : Buffer.alloc(0));
  }
}

function headerOf(entry: LayerEntry): Partial<Header> & Pick<Header, "name"> {
  if (entry.type === "special") throw refuse(entry, "is a device, FIFO or socket");
  if (entry.attributes.includes("security.capability")) throw refuse(entry, "has file capabilities");
  const header = {
    name: entry.type === "directory" ? `${entry.path}/` : entry.path,
    type: entry.type === "hardlink" ? ("link" as const) : entry.type,
    mode: entry.mode & 0o7777,
    uid: entry.uid,
    gid: entry.gid,
    mtime: new Date(Math.min(entry.mtime, SOURCE_EPOCH) * 1000),
    size: entry.type === "file" ? entry.size : 0,
  };
  return entry.target === null ? header : { ...header, linkname: entry.target };
}

function refuse(entry: LayerEntry, problem: string): RunnerError {
  return new RunnerError("input", "LAYER_ENTRY", `/${entry.path} ${problem}, which a layer cannot carry reproducibly`, {
    hint: "Let the image's build script remove it.",
  });
}
