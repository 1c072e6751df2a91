import { constants, type Dirent } from "node:fs";
import { access, lstat, readdir, readFile, stat } from "node:fs/promises";
import { hasCode } from "../base/errors.ts";

/** True when the path is a regular file (links are not followed). */
export async function isFile(path: string): Promise<boolean> {
  return (await typeOf(path)) === "file";
}

/** True when the path is a directory (links are not followed). */
export async function isDirectory(path: string): Promise<boolean> {
  return (await typeOf(path)) === "directory";
}

/** What stands at a path; links are not followed. */
export async function typeOf(path: string): Promise<"file" | "directory" | "link" | "other" | "absent"> {
  try {
    const info = await lstat(path);
    if (info.isSymbolicLink()) return "link";
    if (info.isFile()) return "file";
    return info.isDirectory() ? "directory" : "other";
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT") || hasCode(thrown, "ENOTDIR")) return "absent";
    throw thrown;
  }
}

/** The path's type with links followed: a dataset may link to task folders kept elsewhere. */
export async function isDirectoryOrLink(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT") || hasCode(thrown, "ENOTDIR") || hasCode(thrown, "ELOOP")) return false;
    throw thrown;
  }
}

/** The entries of a folder by name, sorted by UTF-16 code units; an absent folder is empty. */
export async function listFolder(path: string): Promise<readonly Dirent[]> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    return entries.sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return [];
    throw thrown;
  }
}

/** Reads a UTF-8 text file; null when its bytes are not UTF-8. A byte order mark is dropped. */
export async function readText(path: string): Promise<string | null> {
  const bytes = await readFile(path);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** True when the file can be read by this process. */
export async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
