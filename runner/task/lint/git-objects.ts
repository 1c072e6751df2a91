import { spawn } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One object of a git repository, inflated. */
export interface GitObject {
  readonly oid: string;
  readonly type: string;
  readonly bytes: Buffer;
}

const MAX_OBJECT_BYTES = 64 * 1024 * 1024;

/** Why a repository could not be read whole. */
export interface GitTrouble {
  readonly trouble: string;
}

/**
 * Reads every blob, commit and tag of a repository, loose or packed, reachable or not. Only object files are taken into a fresh bare
 * repository first, so that no configuration, hook or alternate of the repository under test has an effect.
 */
export async function* readGitObjects(gitDir: string, signal?: AbortSignal): AsyncGenerator<GitObject | GitTrouble> {
  const scratch = await mkdtemp(join(tmpdir(), "runner-git-"));
  try {
    await mkdir(join(scratch, "refs"), { recursive: true });
    await mkdir(join(scratch, "objects"));
    await writeFile(join(scratch, "HEAD"), "ref: refs/heads/none\n");
    for (const name of await readdir(join(gitDir, "objects"))) {
      if (name !== "pack" && !/^[0-9a-f]{2}$/.test(name)) continue;
      await cp(join(gitDir, "objects", name), join(scratch, "objects", name), { recursive: true });
    }
    yield* catObjects(scratch, signal);
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function* catObjects(gitDir: string, signal: AbortSignal | undefined): AsyncGenerator<GitObject | GitTrouble> {
  const child = spawn("git", ["--git-dir", gitDir, "cat-file", "--batch-all-objects", "--batch", "--unordered"], {
    env: { PATH: process.env.PATH, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", LC_ALL: "C" },
    stdio: ["ignore", "pipe", "pipe"],
    ...(signal === undefined ? {} : { signal }),
  });
  let complaint = "";
  child.stderr.on("data", (chunk: Buffer) => {
    if (complaint.length < 2000) complaint += chunk.toString("utf8");
  });
  const ended = new Promise<string | null>((resolve) => {
    child.on("error", (thrown) => resolve(thrown.message));
    child.on("close", (code) => resolve(code === 0 ? null : complaint.trim() || `git ended with ${code}`));
  });
  try {
    yield* parseBatch(child.stdout);
    const trouble = await ended;
    if (trouble !== null) yield { trouble };
  } finally {
    child.kill();
  }
}

/** Parses the output of `git cat-file --batch`: a header line, the object's bytes, a newline. */
async function* parseBatch(source: AsyncIterable<Uint8Array>): AsyncGenerator<GitObject | GitTrouble> {
  let pending: Uint8Array[] = [];
  let have = 0;
  let needed = 1;
  let skip = 0;
  for await (const chunk of source) {
    pending.push(chunk);
    have += chunk.length;
    // A large object arrives in many chunks; they are joined once.
    if (have < needed) continue;
    let buffer = Buffer.concat(pending);
    for (;;) {
      const dropped = Math.min(skip, buffer.length);
      buffer = buffer.subarray(dropped);
      skip -= dropped;
      const end = buffer.indexOf(10);
      if (end === -1) {
        needed = buffer.length + 1;
        break;
      }
      const [oid = "", type = "", size = "0"] = buffer.subarray(0, end).toString("latin1").split(" ");
      const length = Number(size);
      if (length > MAX_OBJECT_BYTES || type === "tree") {
        if (type !== "tree") yield { trouble: `the object ${oid} has ${length} bytes and was not searched` };
        buffer = buffer.subarray(end + 1);
        skip = length + 1;
        continue;
      }
      needed = end + 1 + length + 1;
      if (buffer.length < needed) break;
      yield { oid, type, bytes: Buffer.from(buffer.subarray(end + 1, end + 1 + length)) };
      buffer = buffer.subarray(needed);
    }
    pending = [buffer];
    have = buffer.length;
  }
}
