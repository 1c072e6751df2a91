import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { type FileHandle, open, truncate } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Digest } from "../base/digest.ts";
import { syncDirectory } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { readLines } from "../base/lines.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Outcome } from "./call.ts";
import { digestSchema, outcomeSchema } from "./cassette-format.ts";

/** A completed call. */
export interface LoggedCall {
  readonly call: string;
  readonly request: Digest;
  readonly outcome: Outcome;
}

/** Completed calls of a run that are not yet sealed into records: append-only, durable call by call. */
export interface CallLog extends AsyncDisposable {
  /** Resolves when the call would survive `kill -9` and a power cut. Calls that complete together share one flush. */
  readonly append: (call: LoggedCall) => Promise<void>;
  /** True when the call completed before this process started. */
  readonly has: (call: string) => boolean;
  /** A call completed before this process started, or undefined. */
  readonly find: (call: string) => Promise<LoggedCall | undefined>;
  /** Calls that were there at opening. */
  readonly known: number;
  /** Names of calls with an answer that were there at opening. */
  readonly answered: readonly string[];
  /** Bytes of a line that a crash had cut off, removed at opening. */
  readonly tornBytes: number;
}

interface Place {
  readonly offset: number;
  readonly length: number;
}

const callSchema: z.ZodType<LoggedCall> = z.strictObject({
  call: z.string().min(1),
  request: digestSchema,
  outcome: outcomeSchema,
});
/** `{"sha256":"<64 hex>","entry":` before the entry, `}` after it. */
const HEAD = '{"sha256":"'.length;
const BODY = HEAD + 64 + '","entry":'.length;

/**
 * Opens (and makes) the log at `path`. A line that a crash cut off is removed, so that nothing is glued to it; damage before the end is
 * refused.
 * @throws RunnerError `CALL_LOG_DAMAGED` naming the line.
 */
export async function openCallLog(path: string): Promise<CallLog> {
  const { places, answered, wholeBytes, tornBytes } = await scan(path);
  if (tornBytes > 0) await truncate(path, wholeBytes);
  const handle = await open(path, "a+");
  await handle.sync();
  await syncDirectory(dirname(path));
  const append = groupCommit(handle);
  return {
    append: (call) => append(encode(call)),
    has: (call) => places.has(call),
    find: async (call) => {
      const place = places.get(call);
      if (place === undefined) return undefined;
      const bytes = Buffer.alloc(place.length);
      await handle.read(bytes, 0, place.length, place.offset);
      return decode(bytes, path, "a line read again");
    },
    known: places.size,
    answered,
    tornBytes,
    [Symbol.asyncDispose]: async () => {
      await append(Buffer.alloc(0)).catch(() => undefined);
      await handle.close();
    },
  };
}

interface Scan {
  readonly places: Map<string, Place>;
  readonly answered: string[];
  readonly wholeBytes: number;
  readonly tornBytes: number;
}

async function scan(path: string): Promise<Scan> {
  const places = new Map<string, Place>();
  const answered: string[] = [];
  let offset = 0;
  let line = 0;
  try {
    for await (const { bytes, terminated } of readLines(createReadStream(path), Number.POSITIVE_INFINITY)) {
      line += 1;
      if (!terminated) return { places, answered, wholeBytes: offset, tornBytes: bytes.length };
      const { call, outcome } = decode(bytes, path, `line ${line}`);
      if (places.has(call)) throw damaged(path, `line ${line}`, `the call ${call} is there twice`);
      places.set(call, { offset, length: bytes.length });
      if (outcome.error === null) answered.push(call);
      offset += bytes.length + 1;
    }
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
  }
  return { places, answered, wholeBytes: offset, tornBytes: 0 };
}

function encode(call: LoggedCall): Buffer {
  const entry = JSON.stringify(call);
  return Buffer.from(`{"sha256":"${createHash("sha256").update(entry).digest("hex")}","entry":${entry}}\n`);
}

function decode(bytes: Buffer, path: string, where: string): LoggedCall {
  const entry = bytes.subarray(BODY, -1);
  const sum = createHash("sha256").update(entry).digest("hex");
  if (bytes.subarray(HEAD, HEAD + 64).toString("latin1") !== sum) {
    throw damaged(path, where, "its checksum does not hold");
  }
  const source = `${path}, ${where}`;
  // The checksum says that this process's own writer wrote the line, so size is no threat.
  return parseInput(callSchema, parseStrictJson(entry, { source, maxBytes: Number.POSITIVE_INFINITY }), source);
}

function damaged(path: string, where: string, problem: string): RunnerError {
  return new RunnerError("integrity", "CALL_LOG_DAMAGED", `${path}, ${where}: ${problem}`, {
    hint: "The file was changed after it was written. Start anew in another folder: what it says cannot be trusted.",
  });
}

/** Appends buffers; whatever arrives while a flush is under way goes out together with the next one. */
function groupCommit(handle: FileHandle): (bytes: Buffer) => Promise<void> {
  let waiting: { readonly bytes: Buffer; readonly resolve: () => void; readonly reject: (reason: unknown) => void }[] =
    [];
  let running = false;
  let failure: { readonly cause: unknown } | undefined;
  const flush = async (): Promise<void> => {
    running = true;
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        // After a failed write the end of the file is unknown, so nothing may follow.
        if (failure !== undefined) throw failure.cause;
        await handle.appendFile(Buffer.concat(batch.map(({ bytes }) => bytes)));
        await handle.datasync();
        for (const { resolve } of batch) resolve();
      } catch (cause) {
        failure ??= { cause };
        for (const { reject } of batch) reject(cause);
      }
    }
    running = false;
  };
  return (bytes) =>
    new Promise((resolve, reject) => {
      waiting.push({ bytes, resolve, reject });
      if (!running) void flush();
    });
}
