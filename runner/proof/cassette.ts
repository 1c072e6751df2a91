import { createReadStream } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { type Digest, digestFile } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { readLines } from "../base/lines.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Call, Outcome, Transport } from "./call.ts";
import { type CassetteHeader, entrySchema, headerSchema, scopeKey } from "./cassette-format.ts";

/** A cassette in the place of all endpoints. */
export interface Cassette extends Transport {
  readonly header: CassetteHeader;
  readonly sha256: Digest;
  readonly calls: number;
}

interface Place {
  readonly offset: number;
  readonly length: number;
  readonly line: number;
}

/**
 * Opens a cassette for replay. Every line is checked now; bodies stay on disk until they are asked for. A call is answered by the entry of
 * its scope if the request is the recorded one, byte for byte.
 * @throws RunnerError `CASSETTE_MISSING`, `CASSETTE_INVALID`; later `CASSETTE_MISS` for a call without an entry.
 */
export async function openCassette(path: string): Promise<Cassette> {
  const places = new Map<string, Place>();
  let header: CassetteHeader | undefined;
  let offset = 0;
  let line = 0;
  try {
    for await (const { bytes, terminated } of readLines(createReadStream(path))) {
      line += 1;
      const source = `${path}, line ${line}`;
      if (!terminated) throw invalid(source, "the last line has no line end: the recording broke off");
      const value = parseStrictJson(bytes, { source });
      if (header === undefined) header = parseInput(headerSchema, value, source);
      else {
        const key = scopeKey(parseInput(entrySchema, value, source).scope);
        const before = places.get(key);
        if (before !== undefined) throw invalid(source, `line ${before.line} has an entry for the same scope ${key}`);
        places.set(key, { offset, length: bytes.length, line });
      }
      offset += bytes.length + 1;
    }
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("input", "CASSETTE_MISSING", `the cassette ${path} does not exist`, { cause });
  }
  if (header === undefined) throw invalid(path, "the header line is missing");
  const handle = await open(path, "r");
  return {
    header,
    sha256: await digestFile(path),
    calls: places.size,
    ask: async (call) => answer(call, path, places, handle),
    [Symbol.asyncDispose]: async () => handle.close(),
  };
}

async function answer(
  call: Call,
  path: string,
  places: ReadonlyMap<string, Place>,
  handle: FileHandle,
): Promise<Outcome> {
  const place = places.get(scopeKey(call.scope));
  if (place === undefined) throw miss(call, path, "it has no entry for this scope");
  const bytes = Buffer.alloc(place.length);
  await handle.read(bytes, 0, place.length, place.offset);
  const source = `${path}, line ${place.line}`;
  const entry = parseInput(entrySchema, parseStrictJson(bytes, { source }), source);
  if (entry.request !== null && entry.request !== call.digest) {
    throw miss(call, path, `line ${place.line} answers another request, ${entry.request}`);
  }
  return entry.outcome;
}

function miss(call: Call, path: string, why: string): RunnerError {
  return new RunnerError(
    "refused",
    "CASSETTE_MISS",
    `the cassette ${path} cannot answer call ${scopeKey(call.scope)} with request ${call.digest}: ${why}`,
    { hint: "Replay with the data, prompts, config and settings of the recording, or record again." },
  );
}

function invalid(source: string, problem: string): RunnerError {
  return new RunnerError("input", "CASSETTE_INVALID", `${source}: ${problem}`, {
    hint: "A cassette is JSONL: a header line and one line a call.",
  });
}
