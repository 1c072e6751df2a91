import { stat } from "node:fs/promises";
import type { Digest } from "../base/digest.ts";
import { isObject, type Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { collectObjectRefs, type ObjectRef } from "../evidence/object-ref.ts";
import { listObjects, type ObjectStore } from "../evidence/store.ts";
import { type TrialRecord, trialRecordSchema } from "../trial/record.ts";
import type { RunReport } from "./run-report.ts";

/** A record names whatever its trial left, which may be much; how much is bounded where it is collected. */
export const MAX_RECORD_BYTES = 64 * 1024 * 1024;
/** A root document is small beside what it names. */
const MAX_REPORT_BYTES = 256 * 1024 * 1024;

/** Reads a sealed record from the store. @throws RunnerError when it is missing, changed or no record. */
export async function readSealedRecord(store: Pick<ObjectStore, "readAll">, ref: ObjectRef): Promise<TrialRecord> {
  const source = `record ${ref.digest}`;
  return parseInput(trialRecordSchema, parseStrictJson(await store.readAll(ref, MAX_RECORD_BYTES), { source }), source);
}

/** Everything that an earlier report of the run names; its records are named by the current report as well. */
export async function refsOfEarlier(store: Pick<ObjectStore, "readAll">, ref: ObjectRef): Promise<ObjectRef[]> {
  return collectObjectRefs(await readEarlier(store, ref));
}

async function readEarlier(store: Pick<ObjectStore, "readAll">, ref: ObjectRef): Promise<Json> {
  const bytes = await store.readAll(ref, MAX_REPORT_BYTES);
  return parseStrictJson(bytes, { source: `the earlier report ${ref.digest}` });
}

/**
 * The objects of a bundle that neither its report, nor a record, nor an earlier report names: what attempts had stored when they were cut
 * off. They are listed, so that nothing of them can be added or taken away afterwards.
 */
export async function findUnsealed(
  dir: string,
  store: Pick<ObjectStore, "readAll" | "path">,
  report: RunReport,
): Promise<ObjectRef[]> {
  const known = new Set<Digest>();
  const note = (refs: readonly ObjectRef[]): void => {
    for (const { digest } of refs) known.add(digest);
  };
  note(collectObjectRefs(report));
  for (const { record } of [...report.trials, ...report.superseded])
    note(collectObjectRefs(await readSealedRecord(store, record)));
  for (const earlier of report.earlier ?? []) {
    const document = await readEarlier(store, earlier);
    // What an earlier report lists as unsealed is listed again, so that the latest report has all of it.
    note(collectObjectRefs(isObject(document) ? { ...document, unsealed: [] } : document));
  }
  const { digests } = await listObjects(dir);
  const spare = [...digests].filter((digest) => !known.has(digest)).sort();
  return Promise.all(spare.map(async (digest) => ({ digest, size: (await stat(store.path(digest))).size })));
}
