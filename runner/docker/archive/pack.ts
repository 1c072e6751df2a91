import { createReadStream } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type Header, type Pack, pack } from "tar-stream";
import { RunnerError } from "../../base/errors.ts";

interface PackBase {
  /** POSIX path relative to where the archive is unpacked. */
  readonly path: string;
  /** Permission bits. Default 0755 for folders, 0644 for files. Set-id and sticky bits are dropped. */
  readonly mode?: number;
  /** Numeric owner and group. Default 0. */
  readonly uid?: number;
  readonly gid?: number;
}

/** One entry of an archive to be built. */
export type PackEntry =
  | (PackBase & { readonly type: "directory" })
  | (PackBase & { readonly type: "file"; readonly content: Uint8Array | string })
  | (PackBase & { readonly type: "file"; readonly file: string; readonly size: number })
  | (PackBase & { readonly type: "file"; readonly stream: AsyncIterable<Uint8Array>; readonly size: number })
  | (PackBase & { readonly type: "symlink"; readonly target: string })
  | (PackBase & { readonly type: "hardlink"; readonly target: string });

/** Modification time of every entry: the same inputs give the same bytes. */
const EPOCH = new Date(0);

/**
 * Builds a tar stream: entries in the given order, fixed times and owners, no names of users. Long and non-ASCII names get PAX headers.
 * The stream fails when a file's size differs from what was said.
 */
export function packArchive(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>): Readable {
  return Readable.from(generate(entries), { objectMode: false });
}

async function* generate(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>): AsyncGenerator<Buffer> {
  const archive = pack();
  const filling = (async () => {
    for await (const entry of entries) await addEntry(archive, entry);
    archive.finalize();
  })();
  filling.catch((thrown) => archive.destroy(thrown instanceof Error ? thrown : new Error(String(thrown))));
  try {
    for await (const part of archive) yield part as Buffer;
  } catch (thrown) {
    // The cause is where an entry was added; the archive only breaks with it.
    await filling;
    throw thrown;
  } finally {
    archive.destroy();
  }
}

/** Like {@link packArchive}, whole in memory: for small archives, which the engine takes faster with a known length. */
export async function packBuffer(entries: Iterable<PackEntry> | AsyncIterable<PackEntry>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of packArchive(entries)) parts.push(part);
  return Buffer.concat(parts);
}

type NamedHeader = Partial<Header> & Pick<Header, "name">;

async function addEntry(archive: Pack, entry: PackEntry): Promise<void> {
  const header = headerOf(entry);
  if (entry.type !== "file") return addWhole(archive, header, undefined);
  if ("content" in entry) return addWhole(archive, header, Buffer.from(entry.content as Uint8Array));
  const source = "file" in entry ? createReadStream(entry.file) : entry.stream;
  const sink = archive.entry({ ...header, size: entry.size });
  try {
    await pipeline(source, sink);
  } catch (cause) {
    throw new RunnerError("integrity", "PACK_FAILED", `${entry.path} could not be packed as ${entry.size} bytes`, {
      cause,
    });
  }
}

function addWhole(archive: Pack, header: NamedHeader, content: Buffer | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (failure?: Error | null) => (failure ? reject(failure) : resolve());
    if (content === undefined) archive.entry(header, done);
    else archive.entry(header, content, done);
  });
}

function headerOf(entry: PackEntry): NamedHeader {
  checkPath(entry.path);
  const permissions = (entry.mode ?? (entry.type === "directory" ? 0o755 : 0o644)) & 0o777;
  const base: NamedHeader = {
    name: entry.type === "directory" ? `${entry.path.replace(/\/+$/, "")}/` : entry.path,
    // The library takes a mode of 0 for "none given"; the file-type bit, which it drops, says otherwise.
    mode: permissions | 0o100000,
    uid: entry.uid ?? 0,
    gid: entry.gid ?? 0,
    mtime: EPOCH,
    type: entry.type === "hardlink" ? "link" : entry.type,
  };
  return entry.type === "symlink" || entry.type === "hardlink" ? { ...base, linkname: entry.target } : base;
}

function checkPath(path: string): void {
  const parts = path.replace(/\/+$/, "").split("/");
  const bad = path.includes("\0") || !path.isWellFormed() || parts.some((part) => part === "" || part === "..");
  if (!bad) return;
  throw new RunnerError("refused", "PACK_PATH", `${JSON.stringify(path)} is no path inside an archive`);
}
