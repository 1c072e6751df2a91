import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestFile, digestJson } from "./digest.ts";
import { RunnerError } from "./errors.ts";

/** One entry of a tree: directories have no digest. `executable` is the owner's execute bit of a file. */
export interface TreeEntry {
  /** POSIX path relative to the root. */
  readonly path: string;
  readonly type: "file" | "directory";
  readonly executable: boolean;
  readonly digest: Digest | null;
}

export interface TreeOptions {
  /** Returns false for a path (relative, POSIX) that does not belong to the tree. */
  readonly include?: (path: string, type: "file" | "directory") => boolean;
}

/**
 * Lists a folder as sorted entries (UTF-16 code-unit order of the paths). Empty directories count, and so does the execute bit;
 * owners, times and the other mode bits do not.
 * @throws RunnerError `TREE_LINK` on a symbolic link and `TREE_SPECIAL` on anything that is not a file or a directory.
 */
export async function listTree(root: string, options: TreeOptions = {}): Promise<TreeEntry[]> {
  const entries: TreeEntry[] = [];
  const include = options.include ?? (() => true);
  const walk = async (relative: string): Promise<void> => {
    const names = await readdir(join(root, relative));
    for (const name of names) {
      const path = relative === "" ? name : `${relative}/${name}`;
      const full = join(root, path);
      const info = await lstat(full);
      if (info.isSymbolicLink()) {
        throw new RunnerError("input", "TREE_LINK", `${full} is a symbolic link`, {
          hint: "Replace the link by the file itself: what is digested must be what runs.",
        });
      }
      if (info.isDirectory()) {
        if (!include(path, "directory")) continue;
        entries.push({ path, type: "directory", executable: false, digest: null });
        await walk(path);
      } else if (info.isFile()) {
        if (!include(path, "file")) continue;
        entries.push({ path, type: "file", executable: (info.mode & 0o100) !== 0, digest: await digestFile(full) });
      } else {
        throw new RunnerError("input", "TREE_SPECIAL", `${full} is neither a file nor a directory`);
      }
    }
  };
  await walk("");
  return entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}

/** The digest of a list of tree entries, as {@link listTree} gives them. */
export function digestTree(entries: readonly TreeEntry[]): Digest {
  return digestJson(entries);
}
