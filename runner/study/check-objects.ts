import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import type { Digest } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { hashObjects } from "../evidence/hash-objects.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { type ObjectStore, walkObjects } from "../evidence/store.ts";

type Refuse = (reason: string) => void;

const BYTES_FOR_THREADS = 64 * 1024 * 1024;
const TOP_LEVEL: readonly string[] = [BUNDLE.report, BUNDLE.plan, BUNDLE.ledger, "objects"];

/** Everything that a bundle refers to, each object once. */
export interface References {
  readonly refs: ReadonlyMap<Digest, ObjectRef>;
  readonly note: (ref: ObjectRef) => void;
}

/** Collects references; the same object with two sizes is refused. */
export function collectReferences(refuse: Refuse): References {
  const refs = new Map<Digest, ObjectRef>();
  const note = (ref: ObjectRef): void => {
    const known = refs.get(ref.digest);
    if (known === undefined) refs.set(ref.digest, ref);
    else if (known.size !== ref.size)
      refuse(`object ${ref.digest} is referred to with ${known.size} and ${ref.size} bytes`);
  };
  return { refs, note };
}

/** Refuses what does not belong at the top of a bundle. */
export async function checkTopLevel(dir: string, refuse: Refuse): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (!TOP_LEVEL.includes(entry.name)) refuse(`${entry.name} does not belong to the bundle`);
    else if (entry.isSymbolicLink()) refuse(`${entry.name} is a symbolic link`);
  }
  for (const name of ["objects", "objects/sha256"]) {
    const info = await lstat(join(dir, name)).catch(() => undefined);
    if (info !== undefined && !info.isDirectory()) refuse(`${name} is not a folder`);
  }
}

/** Hashes every object that is referred to, and refuses whatever else is stored. Gives the bytes that were hashed. */
export async function checkObjects(
  dir: string,
  store: Pick<ObjectStore, "read">,
  refs: ReadonlyMap<Digest, ObjectRef>,
  refuse: Refuse,
  signal: AbortSignal,
): Promise<number> {
  for await (const entry of walkObjects(dir)) {
    if ("stray" in entry) refuse(`${entry.stray} is no object of the bundle`);
    else if (!refs.has(entry.digest)) refuse(`object ${entry.digest} is referred to by nothing`);
  }
  const all = [...refs.values()];
  // Threads cost more than they save on a few small objects.
  if (all.reduce((sum, { size }) => sum + size, 0) >= BYTES_FOR_THREADS) {
    const hashed = await hashObjects(dir, all, signal);
    for (const problem of hashed.problems) refuse(problem);
    return hashed.bytes;
  }
  const limit = pLimit(4);
  let bytes = 0;
  await Promise.all(
    all.map((ref) =>
      limit(async () => {
        signal.throwIfAborted();
        try {
          for await (const chunk of store.read(ref) as AsyncIterable<Buffer>) bytes += chunk.length;
        } catch (thrown) {
          refuse(messageOf(thrown));
        }
      }),
    ),
  );
  return bytes;
}
