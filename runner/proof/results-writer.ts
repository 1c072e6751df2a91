import { createHash } from "node:crypto";
import { closeSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { FILES, recordPath } from "./request.ts";

/** Joins records into `results.jsonl` while they are finished in any order. */
export interface ResultsWriter extends Disposable {
  /** Takes the record `key` as one compact line; its file is there already. */
  readonly add: (key: string, line: string) => void;
  /** Writes what is left, in the order of the data, and gives the file its name. Records that do not exist are left out. */
  readonly finish: () => ObjectRef;
}

/** Lines that are held until those before them are there; more are read again from their records. */
const HELD = 64;

/** Starts `results.jsonl` in `output` for the records `keys`. */
export function startResults(output: string, keys: readonly string[]): ResultsWriter {
  const temporary = join(output, `.${FILES.results}.tmp`);
  const hash = createHash("sha256");
  // A line is null when it is to be read again.
  const waiting = new Map<string, string | null>();
  let file: number | null = openSync(temporary, "w");
  let held = 0;
  let size = 0;
  let next = 0;

  const write = (text: string): void => {
    if (file === null) throw new TypeError("the results are finished");
    const bytes = Buffer.from(`${text}\n`);
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
    hash.update(bytes);
    size += bytes.length;
  };
  const take = (key: string): void => {
    const line = waiting.get(key);
    if (line === undefined) return;
    waiting.delete(key);
    if (line !== null) held -= 1;
    write(line ?? compact(output, key));
  };
  const close = (): void => {
    if (file !== null) closeSync(file);
    file = null;
  };
  return {
    add: (key, line) => {
      const first = keys[next] === key;
      if (!first && held >= HELD) waiting.set(key, null);
      else {
        waiting.set(key, line);
        held += 1;
      }
      for (let at = keys[next]; at !== undefined && waiting.has(at); at = keys[next]) {
        take(at);
        next += 1;
      }
    },
    finish: () => {
      for (; next < keys.length; next += 1) take(keys[next] ?? "");
      close();
      renameSync(temporary, join(output, FILES.results));
      return { digest: `sha256:${hash.digest("hex")}`, size };
    },
    [Symbol.dispose]: close,
  };
}

/** A record's line in `results.jsonl`, without its line end, from the record's file. */
export function compact(output: string, key: string): string {
  return JSON.stringify(JSON.parse(readFileSync(recordPath(output, key), "utf8")));
}
