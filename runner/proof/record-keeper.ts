import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestBytes } from "../base/digest.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { pretty } from "./output-folder.ts";
import { FILES, type PreparedRun, recordPath } from "./request.ts";
import { startResults } from "./results-writer.ts";
import type { SecretGuard } from "./secret-guard.ts";
import type { ProofRecord } from "./terms.ts";

/** A file of the bundle, bound by its bytes. */
export interface FileRef extends ObjectRef {
  readonly path: string;
}

/** Writes finished records, and `results.jsonl` along with them. */
export interface RecordKeeper extends Disposable {
  /** Writes a record, whole before it has its name; durable once the folder is flushed. */
  readonly keep: (record: ProofRecord) => void;
  /** Takes a record that an earlier process wrote. */
  readonly found: (record: ProofRecord, text: string) => void;
  /** Ends `results.jsonl` and gives it and the records, as they were written. */
  readonly finish: () => FileRef[];
}

/** Opens the records of a run that holds its folder. */
export function openRecordKeeper(run: PreparedRun, guard: SecretGuard): RecordKeeper {
  const { output } = run.request;
  const results = startResults(
    output,
    run.units.map(({ key }) => key),
  );
  const refs = new Map<string, FileRef>();
  /** Takes a record whose file has the bytes of `text`, or gets them from `write`. */
  const take = (record: ProofRecord, text: string, write?: (bytes: Buffer) => void): void => {
    const { record_key: key } = record;
    const line = JSON.stringify(record);
    guard.text(recordPath(output, key), text);
    guard.text(join(output, FILES.results), line);
    const bytes = Buffer.from(text);
    write?.(bytes);
    refs.set(key, { path: `${FILES.records}/${key}.json`, digest: digestBytes(bytes), size: bytes.length });
    results.add(key, line);
  };
  return {
    keep: (record) => {
      const temporary = join(output, FILES.records, `.${record.record_key}.tmp`);
      take(record, pretty(record), (bytes) => {
        writeFileSync(temporary, bytes);
        renameSync(temporary, recordPath(output, record.record_key));
      });
    },
    found: (record, text) => take(record, text),
    finish: () => {
      const joined = { path: FILES.results, ...results.finish() };
      return [joined, ...run.units.flatMap(({ key }) => refs.get(key) ?? [])];
    },
    [Symbol.dispose]: () => results[Symbol.dispose](),
  };
}
