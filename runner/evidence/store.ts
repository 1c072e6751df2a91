import { createHash, randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { lstat, mkdir, open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { type Digest, isDigest } from "../base/digest.ts";
import { makeDirectory, syncDirectory } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import type { ObjectRef } from "./object-ref.ts";

/** A content-addressed store of evidence below `objects/`: an object is whole and durable before it has its name. */
export interface ObjectStore {
  /** Stores bytes; equal bytes are stored once. */
  readonly put: (bytes: Uint8Array | string) => Promise<ObjectRef>;
  /** Stores a stream without holding it in memory. */
  readonly putStream: (source: AsyncIterable<Uint8Array>) => Promise<ObjectRef>;
  /** Makes the names of everything stored so far durable; call before a record refers to them. */
  readonly sync: () => Promise<void>;
  /** Streams an object and verifies its bytes: a mismatch fails the stream at its end, so use what was read only after it ended well. */
  readonly read: (ref: ObjectRef) => Readable;
  /** Reads a small object whole; refuses one larger than `maxBytes` (default 16 MiB). */
  readonly readAll: (ref: ObjectRef, maxBytes?: number) => Promise<Buffer>;
  /** The path of an object. */
  readonly path: (digest: Digest) => string;
}

/** The path of an object relative to the bundle. */
export function objectPath(digest: Digest): string {
  const hex = digest.slice("sha256:".length);
  return `objects/sha256/${hex.slice(0, 2)}/${hex.slice(2)}`;
}

/** Opens (and makes) the store of the bundle in `bundleDir`. */
export async function openStore(bundleDir: string): Promise<ObjectStore> {
  const temporaries = join(bundleDir, "objects", "tmp");
  await makeDirectory(temporaries);
  await rm(temporaries, { recursive: true, force: true });
  await mkdir(temporaries);
  const dirty = new Set<string>();

  const putStream = async (source: AsyncIterable<Uint8Array>): Promise<ObjectRef> => {
    const temporary = join(temporaries, randomUUID());
    try {
      const hash = createHash("sha256");
      let size = 0;
      const handle = await open(temporary, "wx", 0o644);
      try {
        for await (const chunk of source) {
          hash.update(chunk);
          size += chunk.byteLength;
          await handle.writeFile(chunk);
        }
        await handle.sync();
      } finally {
        await handle.close();
      }
      const digest: Digest = `sha256:${hash.digest("hex")}`;
      const path = join(bundleDir, objectPath(digest));
      await makeDirectory(dirname(path));
      await rename(temporary, path);
      dirty.add(dirname(path));
      return { digest, size };
    } finally {
      await rm(temporary, { force: true });
    }
  };

  return {
    putStream,
    put: (bytes) => putStream(Readable.from([typeof bytes === "string" ? Buffer.from(bytes) : bytes])),
    sync: async () => {
      const folders = [...dirty];
      dirty.clear();
      await Promise.all(folders.map(syncDirectory));
    },
    ...readableStore(bundleDir),
  };
}

/** The reading half of the store: opens nothing and creates nothing. */
export function readableStore(bundleDir: string): Pick<ObjectStore, "read" | "readAll" | "path"> {
  const path = (digest: Digest): string => join(bundleDir, objectPath(digest));
  const read = (ref: ObjectRef): Readable => Readable.from(verified(path(ref.digest), ref), { objectMode: false });
  const readAll = async (ref: ObjectRef, maxBytes = 16 * 1024 * 1024): Promise<Buffer> => {
    if (ref.size > maxBytes) {
      throw new RunnerError(
        "integrity",
        "OBJECT_TOO_LARGE",
        `object ${ref.digest} has ${ref.size} bytes, more than ${maxBytes}`,
      );
    }
    const chunks: Buffer[] = [];
    for await (const chunk of verified(path(ref.digest), ref)) chunks.push(chunk);
    return Buffer.concat(chunks);
  };
  return { path, read, readAll };
}

async function* verified(path: string, ref: ObjectRef): AsyncGenerator<Buffer> {
  await requireRegular(path, ref);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 * 1024 }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    yield chunk;
  }
  const found: Digest = `sha256:${hash.digest("hex")}`;
  if (found !== ref.digest) {
    throw new RunnerError("integrity", "OBJECT_CHANGED", `object ${ref.digest} holds bytes with digest ${found}`);
  }
}

async function requireRegular(path: string, ref: ObjectRef): Promise<void> {
  let info: Awaited<ReturnType<typeof lstat>>;
  try {
    info = await lstat(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("integrity", "OBJECT_MISSING", `object ${ref.digest} is missing`, { cause });
  }
  if (!info.isFile())
    throw new RunnerError("integrity", "OBJECT_SPECIAL", `object ${ref.digest} is not a regular file`);
  if (info.size !== ref.size) {
    throw new RunnerError(
      "integrity",
      "OBJECT_CHANGED",
      `object ${ref.digest} has ${info.size} bytes, its record says ${ref.size}`,
    );
  }
}

/** What {@link walkObjects} finds: an object by its digest, or a path below `objects/` that is no object. */
export type StoredEntry = { readonly digest: Digest } | { readonly stray: string };

/** Walks what is stored below `objects/`, folder by folder, in the order of the names. */
export async function* walkObjects(bundleDir: string): AsyncGenerator<StoredEntry> {
  const root = join(bundleDir, "objects");
  const open = [""];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    const entries = await readdir(join(root, folder), { withFileTypes: true }).catch((cause: unknown) => {
      if (hasCode(cause, "ENOENT")) return [];
      throw cause;
    });
    entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    const below: string[] = [];
    for (const entry of entries) {
      const relative = folder === "" ? entry.name : `${folder}/${entry.name}`;
      if (entry.isDirectory()) below.push(relative);
      else yield asEntry(relative, entry.isFile());
    }
    open.push(...below.reverse());
  }
}

function asEntry(relative: string, isFile: boolean): StoredEntry {
  const digest = `sha256:${relative.replace(/^sha256\//, "").replaceAll("/", "")}`;
  return isFile && isDigest(digest) && objectPath(digest) === `objects/${relative}`
    ? { digest }
    : { stray: `objects/${relative}` };
}

/** Lists the digests of a bundle's stored objects, and every path below `objects/` that is no object. */
export async function listObjects(bundleDir: string): Promise<{ digests: Set<Digest>; strays: string[] }> {
  const digests = new Set<Digest>();
  const strays: string[] = [];
  for await (const entry of walkObjects(bundleDir)) {
    if ("digest" in entry) digests.add(entry.digest);
    else strays.push(entry.stray);
  }
  return { digests, strays };
}
