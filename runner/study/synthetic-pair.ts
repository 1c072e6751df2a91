import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import pLimit from "p-limit";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestJson } from "../base/digest.ts";
import { BUNDLE, createBundle } from "../evidence/bundle.ts";
import type { PreparedPlan } from "./make-plan.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import { writePair } from "./pair-file.ts";
import { asEvent, type Opening } from "./run-opening.ts";
import type { RunReport } from "./run-report.ts";
import type { RunRequest } from "./run-request.ts";
import { type SealedRun, sealRun, storeOracle } from "./seal-run.ts";
import { SYNTHETIC_SURFACE, type SyntheticSize, syntheticPlan } from "./synthetic-plan.ts";
import { openSyntheticRecords } from "./synthetic-record.ts";

export interface SyntheticPairOptions extends SyntheticSize {
  /** Bytes of artifacts that each trial collects. */
  readonly payloadBytes: number;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A pair of synthetic bundles. */
export interface SyntheticPair {
  /** The folder that holds `control` and `treatment`. */
  readonly dir: string;
  readonly anchors: Readonly<Record<Condition, Digest>>;
  /** Trials of each condition. */
  readonly trials: number;
  /** Bytes of the traces, and of the bodies that lie beside them. */
  readonly traceBytes: number;
}

const RUN_ID = "20260101T000000Z-5e7de71c";
const STARTED_AT = "2026-01-01T00:00:00.000Z";
const WRITERS = 8;
/** Nobody asked for a run. */
const NO_REQUEST: RunRequest = {
  study: "synthetic",
  tasks: [],
  repetitions: null,
  replay: null,
  agent: null,
  model: null,
  reasoningEffort: null,
  record: null,
  imageMap: [],
  buildNetwork: "default",
  cwd: "/",
};

/**
 * Writes a pair of valid bundles without running anything, through the product's own store, ledger, gateway evidence and report writers. They
 * say in every place that they are synthetic: no such task, image or server exists. `dir` must not exist or be empty.
 */
export async function writeSyntheticPair(dir: string, options: SyntheticPairOptions): Promise<SyntheticPair> {
  await mkdir(dir, { recursive: true });
  const prepared = syntheticPlan(options);
  await using records = await openSyntheticRecords(options.payloadBytes);
  const sides: SyntheticSide[] = [];
  for (const condition of CONDITIONS)
    sides.push(await writeSide(join(dir, condition), condition, prepared, records, options));
  await writePair(
    dir,
    sides.map(({ sealed }) => sealed),
  );
  const [control, treatment] = sides;
  if (control === undefined || treatment === undefined) throw new Error("a side was not sealed");
  return {
    dir,
    anchors: { control: control.sealed.anchor, treatment: treatment.sealed.anchor },
    trials: control.trials,
    traceBytes: control.traceBytes + treatment.traceBytes,
  };
}

interface SyntheticSide {
  readonly sealed: SealedRun;
  readonly trials: number;
  readonly traceBytes: number;
}

async function writeSide(
  dir: string,
  condition: Condition,
  prepared: PreparedPlan,
  records: Awaited<ReturnType<typeof openSyntheticRecords>>,
  { report, signal }: SyntheticPairOptions,
): Promise<SyntheticSide> {
  const { plan } = prepared;
  await using bundle = await createBundle(dir);
  await bundle.writeDocument(BUNDLE.plan, canonicalBytes(plan));
  const surface = condition === "treatment" ? canonicalBytes(SYNTHETIC_SURFACE) : null;
  const opening: Opening = {
    ...({ type: "run-opened", kind: "run", runId: RUN_ID, condition, order: "interleaved" } as const),
    plan: digestJson(plan),
    startedAt: STARTED_AT,
    request: NO_REQUEST,
    host: SYNTHETIC_HOST,
    images: Object.fromEntries(Object.values(prepared.own.lock.images).map(({ name, imageId }) => [name, imageId])),
    taskImages: {},
    oracle: await storeOracle(bundle.store, prepared),
    observedSurface: surface === null ? null : await bundle.store.put(surface),
  };
  await bundle.ledger.append(asEvent(opening));
  const planned = plan.trials.filter((trial) => trial.condition === condition);
  const limit = pLimit(WRITERS);
  const sealed: RunReport["trials"] = [];
  let traceBytes = 0;
  await Promise.all(
    planned.map((trial) =>
      limit(async () => {
        signal.throwIfAborted();
        const { number, task, repetition } = trial;
        const identity = { number, attempt: 1, task, condition, repetition };
        await bundle.ledger.append({ type: "trial-started", ...identity, agent: plan.agent.name });
        const record = await records.write(bundle.store, RUN_ID, trial, plan);
        const ref = await bundle.store.put(canonicalBytes(record));
        const { outcome, gateway } = record;
        traceBytes += [gateway?.trace, ...(gateway?.objects ?? [])].reduce((sum, part) => sum + (part?.size ?? 0), 0);
        await bundle.ledger.append({
          type: "trial-sealed",
          ...identity,
          outcome,
          record: { digest: ref.digest, size: ref.size },
        });
        sealed.push({ number, attempt: 1, record: ref });
        if (sealed.length % 1000 === 0) report(`${condition}: ${sealed.length} of ${planned.length} trials written`);
      }),
    ),
  );
  await bundle.ledger.append({ type: "run-closed", runId: RUN_ID });
  const run = await sealRun({
    bundle,
    runId: RUN_ID,
    condition,
    order: "interleaved",
    prepared,
    surface,
    trials: sealed,
    engine: { facts: SYNTHETIC_HOST },
    startedAt: STARTED_AT,
    finishedAt: "2026-01-01T12:00:00.000Z",
  });
  return { sealed: run, trials: planned.length, traceBytes };
}

const SYNTHETIC_HOST = {
  version: "synthetic",
  apiVersion: "1.41",
  serverApiVersion: "1.41",
  kernel: "synthetic",
  arch: "amd64",
  os: "linux",
  operatingSystem: "synthetic",
  cpus: 1,
  memoryBytes: 1024 ** 3,
  storageDriver: "synthetic",
  cgroupVersion: "2",
  dataRoot: "/nowhere",
  securityOptions: [],
};
