import { randomUUID } from "node:crypto";
import { link, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { digestBytes } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isAlive, type Owner, thisOwner } from "../docker/ownership.ts";

const ownerSchema: z.ZodType<Owner> = z.strictObject({
  machine: z.string().min(1),
  boot: z.string().min(1),
  pid: z.int().min(1),
  started: z.string().min(1),
});

/**
 * Takes the lock of an output folder. The file names its owner by process, start time and boot, so the lock of a dead process is replaced
 * and that of a living one never is. Disposing gives it back.
 * @throws RunnerError `RUN_LOCKED` while the owner lives, or when this machine cannot know.
 */
export async function takeLock(path: string): Promise<AsyncDisposable> {
  const own = await thisOwner();
  const text = `${JSON.stringify(own)}\n`;
  if (!(await create(path, text))) {
    const content = await readFile(path, "utf8").catch(() => "");
    await requireDead(path, content, own);
    await replaceDead(path, content, text, own);
  }
  return {
    [Symbol.asyncDispose]: async () => {
      if ((await readFile(path, "utf8").catch(() => "")) === text) await rm(path, { force: true });
    },
  };
}

/** Creates the file with its whole content at once; false when it exists. */
async function create(path: string, text: string): Promise<boolean> {
  const temporary = join(dirname(path), `.${randomUUID()}.tmp`);
  await writeFile(temporary, text, { flag: "wx" });
  try {
    await link(temporary, path);
    return true;
  } catch (cause) {
    // Whoever has the lock removes what looks like a leftover; the next look finds the lock taken.
    if (hasCode(cause, "ENOENT")) return await create(path, text);
    if (!hasCode(cause, "EEXIST")) throw cause;
    return false;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Two processes may find the same dead lock; the one that creates the takeover file named after its content replaces it. */
async function replaceDead(path: string, content: string, text: string, own: Owner): Promise<void> {
  const takeover = `${path}.${digestBytes(content).slice(7, 23)}`;
  if (!(await create(takeover, text))) {
    await requireDead(takeover, await readFile(takeover, "utf8").catch(() => ""), own);
    await rm(takeover, { force: true });
    if (!(await create(takeover, text))) throw locked(path, "another process is taking it over");
  }
  try {
    const now = await readFile(path, "utf8").catch(() => "");
    if (now !== content) throw locked(path, "another process has just taken it");
    await rm(path);
    if (!(await create(path, text))) throw locked(path, "another process has just taken it");
  } finally {
    await rm(takeover, { force: true });
  }
}

async function requireDead(path: string, content: string, own: Owner): Promise<void> {
  let owner: Owner;
  try {
    owner = ownerSchema.parse(JSON.parse(content));
  } catch {
    throw locked(path, "its content names no owner");
  }
  if (owner.machine !== own.machine) throw locked(path, `its owner is process ${owner.pid} on another machine`);
  if (await isAlive(owner, own)) throw locked(path, `process ${owner.pid} is running and owns it`);
}

function locked(path: string, why: string): RunnerError {
  return new RunnerError("refused", "RUN_LOCKED", `the run is locked by ${path}: ${why}`, {
    hint: "Wait for that process. Remove the file only when you are sure that no process writes into this folder.",
  });
}
