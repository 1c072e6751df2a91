import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { extract, type Header } from "tar-stream";

/** One entry of an image's file system. */
export interface LayerEntry {
  /** Relative POSIX path without `./` and without a trailing slash. */
  readonly path: string;
  readonly type: "file" | "directory" | "symlink" | "hardlink" | "special";
  /** Permission bits, with set-id and sticky bits. */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  /** Seconds since 1970. */
  readonly mtime: number;
  /** Target of a link: as written for a symbolic one, an entry's path for a hard one. */
  readonly target: string | null;
  /** Extended attributes by their names, as the archive spells them. */
  readonly attributes: readonly string[];
  readonly size: number;
  /** A file's content; to be read before the next entry is asked for. */
  readonly body: AsyncIterable<Uint8Array> | Buffer;
}

const TYPES: Readonly<Record<string, LayerEntry["type"]>> = {
  file: "file",
  "contiguous-file": "file",
  directory: "directory",
  symlink: "symlink",
  link: "hardlink",
};
const ATTRIBUTE = /^(?:SCHILY\.xattr|LIBARCHIVE\.xattr)\.(.+)$/;

/** Reads a tar stream entry by entry; a body that the consumer leaves is skipped. The root folder itself is not an entry. */
export async function* readTar(stream: Readable): AsyncGenerator<LayerEntry> {
  const reader = extract();
  // The extractor is a writable stream in all but its declared type. Its own iteration reports what goes wrong here.
  pipeline(stream, reader as unknown as NodeJS.WritableStream).catch((thrown: Error) => reader.destroy(thrown));
  for await (const entry of reader) {
    const path = cleanPath(entry.header.name);
    if (path !== "") yield toEntry(entry.header, path, entry as AsyncIterable<Uint8Array>);
    entry.resume();
  }
}

function toEntry(header: Header, path: string, body: AsyncIterable<Uint8Array>): LayerEntry {
  const type = TYPES[header.type] ?? "special";
  const keys = typeof header.pax === "object" && header.pax !== null ? Object.keys(header.pax) : [];
  return {
    path,
    type,
    mode: header.mode,
    uid: header.uid,
    gid: header.gid,
    mtime: Math.floor(header.mtime.getTime() / 1000),
    target: targetOf(header, type),
    attributes: keys.flatMap((key) => ATTRIBUTE.exec(key)?.[1] ?? []),
    size: header.size,
    body,
  };
}

function targetOf(header: Header, type: LayerEntry["type"]): string | null {
  if (type === "symlink") return header.linkname;
  return type === "hardlink" ? cleanPath(header.linkname) : null;
}

/** `./a/b/` and `/a/b` are `a/b`. */
export function cleanPath(path: string): string {
  return path
    .split("/")
    .filter((part) => part !== "" && part !== ".")
    .join("/");
}

/** An entry for a file of our own. */
export function fileEntry(path: string, content: Buffer, mode: number): LayerEntry {
  return { ...plain(path), type: "file", mode, size: content.length, body: content };
}

/** An entry for a folder of our own. */
export function directoryEntry(path: string): LayerEntry {
  return { ...plain(path), type: "directory", mode: 0o755 };
}

function plain(path: string): LayerEntry {
  const nothing = Buffer.alloc(0);
  return {
    path,
    type: "file",
    mode: 0o644,
    uid: 0,
    gid: 0,
    mtime: 0,
    target: null,
    attributes: [],
    size: 0,
    body: nothing,
  };
}

/** The whole content of a small file. */
export async function contentOf(entry: LayerEntry): Promise<Buffer> {
  if (Buffer.isBuffer(entry.body)) return entry.body;
  const parts: Uint8Array[] = [];
  for await (const part of entry.body) parts.push(part);
  return Buffer.concat(parts);
}

/** Every folder above a path, outermost first. */
export function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
