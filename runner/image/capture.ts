import { posix } from "node:path";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { z } from "zod";
import { belongsToImage } from "./select-entries.ts";
import { directoryEntry, fileEntry, type LayerEntry, parentsOf, readTar } from "./tar-entries.ts";

const changesSchema = z
  .array(z.looseObject({ Path: z.string(), Kind: z.union([z.literal(0), z.literal(1), z.literal(2)]) }))
  .nullable();
const DELETED = 2;

/** The named folders of a container, as entries; each folder's content in the engine's (sorted) order. */
export async function* captureFolders(
  container: Docker.Container,
  folders: readonly string[],
): AsyncGenerator<LayerEntry> {
  for (const folder of [...folders].sort()) {
    const above = posix.dirname(folder).slice(1);
    const archive = await container.getArchive({ path: folder });
    for await (const entry of readTar(Readable.from(archive as AsyncIterable<Buffer>))) {
      const path = posix.join(above, entry.path);
      const target =
        entry.type === "hardlink" && entry.target !== null ? posix.join(above, entry.target) : entry.target;
      yield { ...entry, path, target };
    }
  }
}

/** Everything that a container's script added, changed or deleted, without what is the machine's or the moment's. */
export async function* captureChanges(container: Docker.Container): AsyncGenerator<LayerEntry> {
  const changes = changesSchema.parse(await container.changes()) ?? [];
  const deleted: string[] = [];
  const changed = new Set<string>();
  for (const change of changes) {
    const path = change.Path.slice(1);
    if (!belongsToImage(path)) continue;
    if (change.Kind === DELETED) deleted.push(path);
    else changed.add(path);
  }
  const exported = await container.export();
  for await (const entry of readTar(Readable.from(exported as AsyncIterable<Buffer>))) {
    if (changed.has(entry.path)) yield entry;
  }
  for (const path of deleted.sort())
    yield fileEntry(posix.join(posix.dirname(path), `.wh.${posix.basename(path)}`), Buffer.alloc(0), 0o644);
}

/** Entries followed by files of the recipe; parents of either come first where no image below brings them. */
export async function* withFiles(
  entries: AsyncIterable<LayerEntry>,
  files: readonly LayerEntry[],
  bare: boolean,
): AsyncGenerator<LayerEntry> {
  const seen = new Set<string>();
  const replaced = new Set(files.map((file) => file.path));
  const missingParents = function* (path: string): Generator<LayerEntry> {
    for (const parent of parentsOf(path)) {
      if (seen.has(parent)) continue;
      seen.add(parent);
      yield directoryEntry(parent);
    }
  };
  for await (const entry of entries) {
    if (replaced.has(entry.path)) continue;
    if (bare) yield* missingParents(entry.path);
    if (entry.type === "directory") seen.add(entry.path);
    yield entry;
  }
  for (const file of files) {
    yield* missingParents(file.path);
    yield file;
  }
}
