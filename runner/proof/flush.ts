import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";

/** Files that are flushed at the same time, so that they share the journal's commits. */
const AT_ONCE = 32;

/** Makes everything that was written below `folder` durable. */
export async function flushFolder(folder: string): Promise<void> {
  if (process.platform === "linux") {
    // One flush of the file system (syncfs) takes as long as a few single files, and a run has ten thousand.
    const { failed } = await execa("sync", ["-f", folder], { reject: false });
    if (!failed) return;
  }
  await flushEach(folder);
}

/** The same file by file, where the system has no such program. */
export async function flushEach(folder: string): Promise<void> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const inside = entries.filter((entry) => entry.isFile() || entry.isDirectory());
  const paths = [...inside.map((entry) => join(entry.parentPath, entry.name)), folder];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let path = paths[next++]; path !== undefined; path = paths[next++]) await flushOne(path);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

async function flushOne(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
