import { availableParallelism } from "node:os";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { answersInOrder, piecesOf } from "../base/worker-pool.ts";
import type { ObjectRef } from "./object-ref.ts";

/** What hashing found: the bytes read, and a sentence for every object that is not what its reference says. */
export interface HashedObjects {
  readonly bytes: number;
  readonly problems: readonly string[];
}

/** Below this many bytes a thread costs more than it saves. */
const BYTES_A_WORKER = 64 * 1024 * 1024;
/** A worker holds one buffer and the names of a batch. */
const HEAP = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 64 };
/** Objects of one message: enough to keep a worker busy, few enough to share the work evenly. */
const BATCH = 256;

/**
 * The worker's program. It is text because it must run the same from sources, from a bundle and under a test runner. It answers a batch of
 * [digest, size] with the bytes that it read and its problems; one buffer serves all files.
 */
const PROGRAM = `
const { parentPort, workerData: folder } = require("node:worker_threads");
const { createHash } = require("node:crypto");
const { openSync, fstatSync, readSync, closeSync, lstatSync, constants } = require("node:fs");
const buffer = Buffer.allocUnsafe(1024 * 1024);
function check([name, size], result) {
  const hex = name.slice("sha256:".length);
  const path = folder + "/sha256/" + hex.slice(0, 2) + "/" + hex.slice(2);
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
    return found === name ? null : "object " + name + " holds bytes with digest " + found;
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

/** Hashes referenced objects on all processors and holds them against their references. Problems come in the order of the references. */
export async function hashObjects(
  bundleDir: string,
  refs: readonly ObjectRef[],
  signal: AbortSignal,
): Promise<HashedObjects> {
  const total = refs.reduce((sum, { size }) => sum + size, 0);
  const most = Math.min(Math.ceil(refs.length / BATCH), Math.ceil(total / BYTES_A_WORKER));
  const count = Math.min(availableParallelism(), most);
  const start = (): Worker =>
    new Worker(PROGRAM, { eval: true, execArgv: [], workerData: join(bundleDir, "objects"), resourceLimits: HEAP });
  const problems: string[] = [];
  let bytes = 0;
  if (refs.length === 0) return { bytes, problems };
  for await (const hashed of answersInOrder<readonly Item[], HashedObjects>(
    start,
    Math.max(1, count),
    batchesOf(refs),
    signal,
  )) {
    bytes += hashed.bytes;
    problems.push(...hashed.problems);
  }
  return { bytes, problems };
}

type Item = readonly [digest: string, size: number];

function* batchesOf(refs: readonly ObjectRef[]): Generator<readonly Item[]> {
  for (const piece of piecesOf(refs, BATCH)) yield piece.map(({ digest, size }): Item => [digest, size]);
}
