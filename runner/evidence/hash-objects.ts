import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import type { ObjectRef } from "./object-ref.ts";
import { objectPath } from "./store.ts";

/** What hashing found: the bytes read, and a sentence for every object that is not what its reference says. */
export interface HashedObjects {
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Below this many bytes a thread costs more than it saves. */
const BYTES_A_WORKER = 64 * 1024 * 1024;
/** Objects of one message: enough to keep a worker busy, few enough to share the work evenly. */
const BATCH = 256;

/**
 * The worker's program. It is text because it must run the same from sources, from a bundle and under a test runner. It answers a batch of
 * [path, name, digest, size] with the bytes that it read and its problems; one buffer serves all files.
 */
const PROGRAM = `
const { parentPort } = require("node:worker_threads");
const { createHash } = require("node:crypto");
const { openSync, fstatSync, readSync, closeSync, lstatSync, constants } = require("node:fs");
const buffer = Buffer.allocUnsafe(1024 * 1024);
function check([path, name, digest, size], result) {
  let file;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (thrown.code === "ENOENT") return "object " + name + " is missing";
    if (thrown.code === "ELOOP" || thrown.code === "ENXIO") return "object " + name + " is not a regular file";
    return "object " + name + " cannot be read: " + thrown.message;
  }
  try {
    const info = fstatSync(file);
    if (!info.isFile()) return "object " + name + " is not a regular file";
    if (info.size !== size) return "object " + name + " has " + info.size + " bytes, its record says " + size;
    const hash = createHash("sha256");
    for (let read = readSync(file, buffer); read > 0; read = readSync(file, buffer)) {
      hash.update(read === buffer.length ? buffer : buffer.subarray(0, read));
      result.bytes += read;
    }
    const found = "sha256:" + hash.digest("hex");
    return found === digest ? null : "object " + name + " holds bytes with digest " + found;
  } catch (thrown) {
    return "object " + name + " cannot be read: " + thrown.message;
  } finally {
    closeSync(file);
  }
}
parentPort.on("message", (batch) => {
  const result = { bytes: 0, problems: [] };
  for (const item of batch) {
    const problem = check(item, result);
    if (problem !== null) result.problems.push(problem);
  }
  parentPort.postMessage(result);
});
`;

type Item = readonly [path: string, name: string, digest: string, size: number];

/** Hashes referenced objects on all processors and holds them against their references. Problems come in the order of the references. */
export async function hashObjects(
  bundleDir: string,
  refs: readonly ObjectRef[],
  signal: AbortSignal,
): Promise<HashedObjects> {
  const batches: Item[][] = [];
  let total = 0;
  for (const [index, { digest, size }] of refs.entries()) {
    total += size;
    const item: Item = [join(bundleDir, objectPath(digest)), digest, digest, size];
    if (index % BATCH === 0) batches.push([item]);
    else batches.at(-1)?.push(item);
  }
  const wanted = Math.max(1, Math.ceil(total / BYTES_A_WORKER));
  const count = Math.min(availableParallelism(), batches.length, wanted);
  const results: HashedObjects[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    const worker = new Worker(PROGRAM, { eval: true, execArgv: [] });
    try {
      for (let index = next++; index < batches.length; index = next++) {
        signal.throwIfAborted();
        results[index] = await ask(worker, batches[index] ?? []);
      }
    } finally {
      await worker.terminate();
    }
  };
  await Promise.all(Array.from({ length: count }, work));
  return {
    bytes: results.reduce((sum, { bytes }) => sum + bytes, 0),
    problems: results.flatMap(({ problems }) => problems),
  };
}

function ask(worker: Worker, batch: readonly Item[]): Promise<HashedObjects> {
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => {
      worker.off("message", answered);
      worker.off("error", failed);
      done();
    };
    const answered = (result: HashedObjects) => settle(() => resolve(result));
    const failed = (error: unknown) => settle(() => reject(error));
    worker.on("message", answered);
    worker.on("error", failed);
    worker.postMessage(batch);
  });
}
