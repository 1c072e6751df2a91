import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { digestBytes } from "../base/digest.ts";
import { hasCode } from "../base/errors.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { objectPath } from "../evidence/store.ts";

/** Keeps raw replies below `objects/`, each whole before it has its name. */
export interface RawStore {
  /** Keeps a reply; equal replies are kept once. What it gives is durable only once the folder is flushed. */
  readonly put: (body: string) => ObjectRef;
  /** True when the object is there with exactly these bytes. */
  readonly holds: (ref: ObjectRef) => boolean;
}

/**
 * Opens the replies of the bundle in `output`, in which the object store has been opened. A reply is durable in the call log before it comes
 * here, so nothing is flushed one by one: the end of the run flushes the folder once, and a resumed run makes again what a power cut lost.
 */
export function openRawStore(output: string): RawStore {
  const folders = new Set<string>();
  const temporary = join(output, "objects", "tmp", "reply");
  // Synchronous, because a few kilobytes into the page cache cost a tenth of the way through the thread pool, in which they would also
  // stand before the flushes of the call log that every step waits for.
  const put = (body: string): ObjectRef => {
    const bytes = Buffer.from(body);
    const ref = { digest: digestBytes(bytes), size: bytes.length };
    const path = join(output, objectPath(ref.digest));
    const folder = dirname(path);
    if (!folders.has(folder)) mkdirSync(folder, { recursive: true });
    folders.add(folder);
    writeFileSync(temporary, bytes);
    renameSync(temporary, path);
    return ref;
  };
  const holds = ({ digest, size }: ObjectRef): boolean => {
    try {
      const bytes = readFileSync(join(output, objectPath(digest)));
      return bytes.length === size && digestBytes(bytes) === digest;
    } catch (thrown) {
      if (hasCode(thrown, "ENOENT")) return false;
      throw thrown;
    }
  };
  return { put, holds };
}
