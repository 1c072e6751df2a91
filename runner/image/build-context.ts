import { createReadStream } from "node:fs";
import { lstat, readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { type Digest, digestFile, digestJson } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseDockerIgnore } from "./docker-ignore.ts";
import { tarStream } from "./tar-writer.ts";
import { SOURCE_EPOCH } from "./write-layer.ts";

const IGNORE_FILE = ".dockerignore";

/** One entry of a build context. Owners, times and mode bits beyond the owner's execute bit do not count. */
export interface ContextEntry {
  readonly path: string;
  readonly type: "file" | "directory" | "symlink";
  readonly executable: boolean;
  readonly bytes: number;
  /** Of a file. */
  readonly digest: Digest | null;
  /** Of a symbolic link, as written. */
  readonly target: string | null;
}

/** A folder as Docker builds from it: `.dockerignore` applied, sorted. */
export interface BuildContext {
  readonly root: string;
  readonly entries: readonly ContextEntry[];
  readonly digest: Digest;
  /** The Dockerfile's text; it belongs to the context even where `.dockerignore` leaves it out. */
  readonly dockerfile: string;
  readonly dockerfileName: string;
}

/**
 * Reads a build context.
 * @throws RunnerError `DOCKERFILE_MISSING`; `CONTEXT_SPECIAL` for sockets, FIFOs and devices.
 */
export async function readContext(root: string, dockerfileName = "Dockerfile"): Promise<BuildContext> {
  const dockerfile = await readText(join(root, dockerfileName));
  if (dockerfile === undefined) {
    throw new RunnerError("input", "DOCKERFILE_MISSING", `${join(root, dockerfileName)} is not there`, {
      hint: "Write a Dockerfile, or name a prebuilt image in the task.",
    });
  }
  const own = await readText(join(root, `${dockerfileName}.dockerignore`));
  const ignored = parseDockerIgnore(own ?? (await readText(join(root, IGNORE_FILE))) ?? "");
  const entries = await walk(root, "", ignored);
  entries.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
  return { root, entries, digest: digestJson(entries), dockerfile, dockerfileName };
}

async function walk(root: string, folder: string, ignored: (path: string) => boolean): Promise<ContextEntry[]> {
  const found: ContextEntry[] = [];
  for (const name of await readdir(join(root, folder))) {
    const path = folder === "" ? name : `${folder}/${name}`;
    const full = join(root, path);
    const info = await lstat(full);
    const plain = { path, executable: false, bytes: 0, digest: null, target: null };
    if (info.isDirectory()) {
      const below = await walk(root, path, ignored);
      // A folder that is left out still holds what `!` takes back in.
      if (!ignored(path) || below.length > 0) found.push({ ...plain, type: "directory" }, ...below);
    } else if (ignored(path)) continue;
    else if (info.isSymbolicLink()) found.push({ ...plain, type: "symlink", target: await readlink(full) });
    else if (info.isFile()) {
      const executable = (info.mode & 0o100) !== 0;
      found.push({ ...plain, type: "file", executable, bytes: info.size, digest: await digestFile(full) });
    } else {
      throw new RunnerError(
        "input",
        "CONTEXT_SPECIAL",
        `${full} is a socket, FIFO or device, which no build can copy`,
        {
          hint: "Remove it or name it in .dockerignore.",
        },
      );
    }
  }
  return found;
}

/** The context as a tar whose bytes depend on its entries alone, with another text in the Dockerfile's place. */
export function contextArchive(context: BuildContext, dockerfile: string): Readable {
  const fixed = { mtime: new Date(SOURCE_EPOCH * 1000), uid: 0, gid: 0 };
  const text = Buffer.from(dockerfile, "utf8");
  return tarStream(async (write) => {
    let sent = false;
    for (const entry of context.entries) {
      const { path: name } = entry;
      if (entry.type === "directory")
        await write({ ...fixed, name: `${name}/`, type: "directory", mode: 0o755 }, Buffer.alloc(0));
      else if (entry.type === "symlink")
        await write({ ...fixed, name, type: "symlink", mode: 0o777, linkname: entry.target ?? "" }, Buffer.alloc(0));
      else if (name === context.dockerfileName) {
        sent = true;
        await write({ ...fixed, name, mode: 0o644 }, text);
      } else {
        const body = createReadStream(join(context.root, name));
        await write({ ...fixed, name, mode: entry.executable ? 0o755 : 0o644, size: entry.bytes }, body);
      }
    }
    if (sent) return;
    await write({ ...fixed, name: context.dockerfileName, mode: 0o644 }, text);
    if (context.entries.some((entry) => entry.path === IGNORE_FILE)) return;
    // The engine removes the Dockerfile from the context only where an ignore file in the context names it.
    const ignored = Buffer.from(`${IGNORE_FILE}\n${context.dockerfileName}\n`);
    await write({ ...fixed, name: IGNORE_FILE, mode: 0o644 }, ignored);
  });
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return undefined;
    throw thrown;
  }
}
