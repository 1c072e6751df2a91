import { join } from "node:path";
import { type Digest, digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type Surface, surfaceSchema } from "../base/formats/surface.ts";
import { isObject, type Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { type LedgerContent, readLedger } from "../evidence/ledger.ts";
import { collectObjectRefs, type ObjectRef } from "../evidence/object-ref.ts";
import { readableStore } from "../evidence/store.ts";
import { checkObjects, checkTopLevel, collectReferences, type References } from "./check-objects.ts";
import type { ExaminedRun, ExaminedTrial, TrialFacts, TrialToExamine } from "./examine-trial.ts";
import { examineTrials } from "./examine-trials.ts";
import { oracleReportSchema } from "./oracle-report.ts";
import { planSchema } from "./plan.ts";
import { runReportSchema } from "./run-report.ts";
import { limitsOf } from "./trial-expectation.ts";
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
  /** What a record says; null for one that cannot be read, for which a reason was given once. Records are not kept in memory. */
  readonly readRecord: (ref: ObjectRef) => Promise<TrialFacts | null>;
  /** What was derived again of a run's trials, and then of the attempts that were superseded, in the order of the report's lists. */
  readonly derived: readonly DerivedTrial[];
  readonly refuse: (reason: string) => void;
  readonly signal: AbortSignal;
}

/** An attempt of a run's trial as it came out again; nothing of one whose record cannot be read. */
export interface DerivedTrial extends Pick<ExaminedTrial, "reasons" | "row"> {
  readonly facts: TrialFacts | null;
}

/**
 * Recomputes a bundle from its bytes: the report against the anchor before it is parsed, every reference inside the bundle, every digest,
 * the ledger's chain, and every derived value. A malformed or wrong anchor is thrown; everything else is a reason.
 */
export async function verifyBundle(
  dir: string,
  anchor: string,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<Verification> {
  return (await inspectBundle(dir, anchor, signal, program)).verification;
}

/**
 * {@link verifyBundle}, with what was derived on the way. Nothing of it may be used unless the verification is valid. `program` is the file
 * of the worker's program; without it all trials are examined in this thread.
 */
export async function inspectBundle(
  dir: string,
  anchor: string,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<Inspection> {
  const reasons: string[] = [];
  const refuse = (reason: string): void => void reasons.push(reason);
  let report: Json;
  try {
    report = await readAnchoredReport(join(dir, BUNDLE.report), anchor);
  } catch (thrown) {
    if (thrown instanceof RunnerError && thrown.kind === "usage") throw thrown;
    const nothing = { trials: 0, objects: 0, bytes: 0 };
    return { verification: { valid: false, kind: "unknown", reasons: [messageOf(thrown)], ...nothing }, run: null };
  }
  const kind = isObject(report) && typeof report.kind === "string" ? report.kind : "unknown";
  await checkTopLevel(dir, refuse);
  const ledger = await readLedger(join(dir, BUNDLE.ledger)).catch((thrown: unknown): LedgerContent => {
    refuse(messageOf(thrown));
    return { lines: [], head: null, tornBytes: 0, wholeBytes: 0 };
  });
  if (ledger.tornBytes > 0) refuse(`${BUNDLE.ledger}: its last ${ledger.tornBytes} bytes are no whole line`);
  const store = readableStore(dir);
  const references = collectReferences(refuse);
  for (const ref of collectObjectRefs(report)) references.note(ref);
  const examined = await examineAll({ dir, store, report, program, references, refuse, signal });
  for (const ref of earlierRefs(report)) {
    try {
      for (const inner of await refsOfEarlier(store, ref)) references.note(inner);
    } catch (thrown) {
      refuse(messageOf(thrown));
    }
  }
  const { refs } = references;
  const bytes = await checkObjects(dir, store, refs, refuse, signal);
  const reader: BundleReader = { dir, store, ledger, refuse, signal, ...examined };
  let run: VerifiedRun | null = null;
  try {
    if (kind === "run") run = await verifyRun(reader, parseInput(runReportSchema, report, BUNDLE.report));
    else if (kind === "oracle") await verifyOracle(reader, examined.trials, report);
    else refuse(`${BUNDLE.report}: ${JSON.stringify(kind)} is no kind of bundle this runner verifies`);
  } catch (thrown) {
    signal.throwIfAborted();
    refuse(messageOf(thrown));
  }
  const { trials } = examined;
  return { verification: { valid: reasons.length === 0, kind, reasons, trials, objects: refs.size, bytes }, run };
}

interface ExamineInput {
  readonly dir: string;
  readonly store: BundleReader["store"];
  readonly report: Json;
  readonly program: URL | null;
  readonly references: References;
  readonly refuse: (reason: string) => void;
  readonly signal: AbortSignal;
}

/** Reads every record once, notes what it names, and keeps of it what later checks ask for. */
async function examineAll(
  input: ExamineInput,
): Promise<Pick<BundleReader, "readRecord" | "derived"> & { readonly trials: number }> {
  const { dir, report, program, references, refuse, signal } = input;
  const listed = recordsOf(report);
  const facts = new Map<Digest, TrialFacts>();
  const sameImages = internJson<TrialFacts["images"]>();
  const broken = new Set<Digest>();
  const derived: DerivedTrial[] = [];
  let trials = 0;
  let next = 0;
  for await (const found of examineTrials(dir, await contextOf(input), listed, program, signal)) {
    const { ref, derive } = listed[next++] ?? {};
    if (ref === undefined) break;
    if (found.problem !== null) {
      if (!broken.has(ref.digest)) refuse(`record ${ref.digest}: ${found.problem}`);
      broken.add(ref.digest);
    } else trials += 1;
    for (const inner of found.refs) references.note(inner);
    const own = found.facts === null ? null : { ...found.facts, images: sameImages(found.facts.images) };
    if (own !== null) facts.set(ref.digest, own);
    if (derive != null) derived.push({ facts: own, reasons: found.reasons, row: found.row });
  }
  return { derived, trials, readRecord: async ({ digest }) => facts.get(digest) ?? null };
}

/** Gives equal values the same object: the trials of a task ran the same images. */
function internJson<T>(): (value: T) => T {
  const known = new Map<string, T>();
  return (value) => {
    const key = JSON.stringify(value);
    const first = known.get(key) ?? value;
    known.set(key, first);
    return first;
  };
}

/** A run's plan and locked surface where both can be read; where not, checking the run itself says why. */
async function contextOf({ store, report }: ExamineInput): Promise<ExaminedRun | null> {
  const parsed = runReportSchema.safeParse(report);
  if (!parsed.success) return null;
  const read = async (ref: ObjectRef): Promise<Json> => parseStrictJson(await store.readAll(ref), { source: "" });
  try {
    const plan = parseInput(planSchema, await read(parsed.data.plan), "");
    return {
      plan,
      limits: limitsOf(plan),
      locked: parseInput<Surface>(surfaceSchema, await read(parsed.data.lockedSurface), ""),
    };
  } catch {
    return null;
  }
}

/** The records that a root document lists; those of a run's attempts are to be derived again, whether they stand or were superseded. */
function recordsOf(report: Json): TrialToExamine[] {
  const parsed = runReportSchema.safeParse(report);
  if (!parsed.success) return trialRefs(report).map((ref) => ({ ref, derive: null }));
  const { trials, superseded } = parsed.data;
  return [...trials, ...superseded].map(({ record: ref, number, attempt }) => ({ ref, derive: { number, attempt } }));
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
