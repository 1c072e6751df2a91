import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { isObject, type Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { hashObjects } from "../evidence/hash-objects.ts";
import { type LedgerContent, readLedger } from "../evidence/ledger.ts";
import { collectObjectRefs, type ObjectRef } from "../evidence/object-ref.ts";
import { listObjects, readableStore } from "../evidence/store.ts";
import { type TrialRecord, trialRecordSchema } from "../trial/record.ts";
import { oracleReportSchema } from "./oracle-report.ts";
import { runReportSchema } from "./run-report.ts";
import { refsOfEarlier } from "./unsealed.ts";
import { type VerifiedRun, verifyRun } from "./verify-run.ts";

/** What a verification found. `reasons` lists everything that stands against the bundle. */
export interface Verification {
  readonly valid: boolean;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly trials: number;
  readonly objects: number;
  /** Bytes of the objects that were hashed. */
  readonly bytes: number;
}

/** A verification with the run that came out again; null when the bundle is no run, or could not be read as one. */
export interface Inspection {
  readonly verification: Verification;
  readonly run: VerifiedRun | null;
}

/** A bundle's parts as a verifier holds them; reasons are collected, not thrown. */
export interface BundleReader {
  readonly dir: string;
  readonly store: ReturnType<typeof readableStore>;
  readonly ledger: LedgerContent;
  /** Reads a record again; null for one that cannot be read, for which a reason was given once. Records are not kept in memory. */
  readonly readRecord: (ref: ObjectRef) => Promise<TrialRecord | null>;
  readonly refuse: (reason: string) => void;
  readonly signal: AbortSignal;
}

const BYTES_FOR_THREADS = 64 * 1024 * 1024;
const TOP_LEVEL: readonly string[] = [BUNDLE.report, BUNDLE.plan, BUNDLE.ledger, "objects"];

/**
 * Recomputes a bundle from its bytes: the report against the anchor before it is parsed, every reference inside the bundle, every digest,
 * the ledger's chain, and every derived value. A malformed or wrong anchor is thrown; everything else is a reason.
 */
export async function verifyBundle(dir: string, anchor: string, signal: AbortSignal): Promise<Verification> {
  return (await inspectBundle(dir, anchor, signal)).verification;
}

/** {@link verifyBundle}, with what was derived on the way. Nothing of it may be used unless the verification is valid. */
export async function inspectBundle(dir: string, anchor: string, signal: AbortSignal): Promise<Inspection> {
  const reasons: string[] = [];
  const refuse = (reason: string): void => void reasons.push(reason);
  let report: Json;
  try {
    report = await readAnchoredReport(join(dir, BUNDLE.report), anchor);
  } catch (thrown) {
    if (thrown instanceof RunnerError && thrown.kind === "usage") throw thrown;
    const verification = {
      valid: false,
      kind: "unknown",
      reasons: [messageOf(thrown)],
      trials: 0,
      objects: 0,
      bytes: 0,
    };
    return { verification, run: null };
  }
  const kind = isObject(report) && typeof report.kind === "string" ? report.kind : "unknown";
  await checkTopLevel(dir, refuse);
  const ledger = await readLedger(join(dir, BUNDLE.ledger)).catch((thrown: unknown): LedgerContent => {
    refuse(messageOf(thrown));
    return { lines: [], head: null, tornBytes: 0, wholeBytes: 0 };
  });
  if (ledger.tornBytes > 0) refuse(`${BUNDLE.ledger}: its last ${ledger.tornBytes} bytes are no whole line`);
  const store = readableStore(dir);
  const refs = new Map<Digest, ObjectRef>();
  const note = (ref: ObjectRef): void => {
    const known = refs.get(ref.digest);
    if (known === undefined) refs.set(ref.digest, ref);
    else if (known.size !== ref.size)
      refuse(`object ${ref.digest} is referred to with ${known.size} and ${ref.size} bytes`);
  };
  for (const ref of collectObjectRefs(report)) note(ref);
  const broken = new Set<Digest>();
  let trials = 0;
  const readOnce = async (ref: ObjectRef): Promise<TrialRecord | null> => {
    if (broken.has(ref.digest)) return null;
    try {
      return await readRecord(store, ref);
    } catch (thrown) {
      broken.add(ref.digest);
      refuse(`record ${ref.digest}: ${messageOf(thrown)}`);
      return null;
    }
  };
  for (const ref of trialRefs(report)) {
    signal.throwIfAborted();
    const record = await readOnce(ref);
    if (record === null) continue;
    trials += 1;
    for (const inner of collectObjectRefs(record)) note(inner);
  }
  for (const ref of earlierRefs(report)) {
    try {
      for (const inner of await refsOfEarlier(store, ref)) note(inner);
    } catch (thrown) {
      refuse(messageOf(thrown));
    }
  }
  const bytes = await checkObjects(dir, store, refs, refuse, signal);
  const reader: BundleReader = { dir, store, ledger, readRecord: readOnce, refuse, signal };
  let run: VerifiedRun | null = null;
  try {
    if (kind === "run") run = await verifyRun(reader, parseInput(runReportSchema, report, BUNDLE.report));
    else if (kind === "oracle") await verifyOracle(reader, trials, report);
    else refuse(`${BUNDLE.report}: ${JSON.stringify(kind)} is no kind of bundle this runner verifies`);
  } catch (thrown) {
    signal.throwIfAborted();
    refuse(messageOf(thrown));
  }
  return { verification: { valid: reasons.length === 0, kind, reasons, trials, objects: refs.size, bytes }, run };
}

function trialRefs(report: Json): ObjectRef[] {
  if (!isObject(report)) return [];
  return ["trials", "superseded", "tasks"].flatMap((name) => {
    const found: ObjectRef[] = [];
    const visit = (value: unknown): void => {
      if (Array.isArray(value)) value.forEach(visit);
      else if (isObject(value)) {
        if (value.record !== undefined) found.push(...collectObjectRefs(value.record));
        else Object.values(value).forEach(visit);
      }
    };
    visit(report[name]);
    return found;
  });
}

/** The reports that a run had before it was resumed. */
function earlierRefs(report: Json): ObjectRef[] {
  return isObject(report) && report.kind === "run" ? collectObjectRefs(report.earlier) : [];
}

async function readRecord(store: BundleReader["store"], ref: ObjectRef): Promise<TrialRecord> {
  const bytes = await store.readAll(ref);
  const record = parseInput(trialRecordSchema, parseStrictJson(bytes, { source: "the record" }), "the record");
  if (!canonicalBytes(record).equals(bytes))
    throw new RunnerError("integrity", "NOT_CANONICAL", "it is not canonical JSON");
  return record;
}

async function checkTopLevel(dir: string, refuse: (reason: string) => void): Promise<void> {
  for (const entry of await readdir(dir, { withFileTypes: true })) {
    if (!TOP_LEVEL.includes(entry.name)) refuse(`${entry.name} does not belong to the bundle`);
    else if (entry.isSymbolicLink()) refuse(`${entry.name} is a symbolic link`);
  }
  for (const name of ["objects", "objects/sha256"]) {
    const info = await lstat(join(dir, name)).catch(() => undefined);
    if (info !== undefined && !info.isDirectory()) refuse(`${name} is not a folder`);
  }
}

async function checkObjects(
  dir: string,
  store: BundleReader["store"],
  refs: ReadonlyMap<Digest, ObjectRef>,
  refuse: (reason: string) => void,
  signal: AbortSignal,
): Promise<number> {
  const { digests, strays } = await listObjects(dir);
  for (const stray of strays) refuse(`${stray} is no object of the bundle`);
  for (const digest of digests) if (!refs.has(digest)) refuse(`object ${digest} is referred to by nothing`);
  const all = [...refs.values()];
  // Threads cost more than they save on a few small objects.
  if (all.reduce((sum, { size }) => sum + size, 0) >= BYTES_FOR_THREADS) {
    const hashed = await hashObjects(dir, all, signal);
    for (const problem of hashed.problems) refuse(problem);
    return hashed.bytes;
  }
  const limit = pLimit(4);
  let bytes = 0;
  await Promise.all(
    all.map((ref) =>
      limit(async () => {
        signal.throwIfAborted();
        try {
          for await (const chunk of store.read(ref) as AsyncIterable<Buffer>) bytes += chunk.length;
        } catch (thrown) {
          refuse(messageOf(thrown));
        }
      }),
    ),
  );
  return bytes;
}

async function verifyOracle(
  { dir, ledger, readRecord: read, refuse }: BundleReader,
  trials: number,
  report: Json,
): Promise<void> {
  const parsed = parseInput(oracleReportSchema, report, BUNDLE.report);
  if ((await digestFile(join(dir, BUNDLE.ledger))) !== parsed.ledger) refuse(`${BUNDLE.ledger} is not the report's`);
  const sealed = ledger.lines.filter(({ event }) => event.type === "trial-sealed").length;
  if (sealed !== trials) refuse(`the ledger seals ${sealed} trials, the report has ${trials}`);
  for (const task of parsed.tasks) {
    for (const run of task.runs) {
      const record = await read(run.record);
      if (record === null) continue;
      if (record.outcome !== run.outcome || record.reward !== run.reward) {
        refuse(
          `${task.task}, ${run.role}: the report says ${run.outcome} ${run.reward}, its record ${record.outcome} ${record.reward}`,
        );
      }
    }
  }
}
