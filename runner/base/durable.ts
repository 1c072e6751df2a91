import { randomUUID } from "node:crypto";
import { mkdir, open, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Makes a directory's entries durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Creates a folder and its parents, each made durable in its parent. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await mkdir(path, { recursive: true });
  if (first === undefined) return;
  for (let created = path; ; created = dirname(created)) {
    await syncDirectory(dirname(created));
    if (created === first || dirname(created) === created) return;
  }
}

/** Writes a file so that it is either the old bytes or the new ones, also after a power cut. */
export async function writeDurably(path: string, bytes: Uint8Array | string): Promise<void> {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  try {
    const handle = await open(temporary, "wx");
    try {
      await handle.writeFile(bytes);
      await handle.sync();
    } finally {
      await handle.close();
    }
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
  await syncDirectory(dirname(path));
}
