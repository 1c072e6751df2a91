import { stat } from "node:fs/promises";
import { join } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { canonicalBytes, canonicalText } from "../base/canonical-json.ts";
import { type Digest, digestFile } from "../base/digest.ts";
import type { Engine } from "../docker/engine.ts";
import { writeReport } from "../evidence/anchor.ts";
import { BUNDLE, type BundleWriter } from "../evidence/bundle.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { OUTCOMES } from "../trial/record.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { Condition } from "./order.ts";
import type { Plan } from "./plan.ts";
import type { RunReport } from "./run-report.ts";
import { deriveRow, type RowContext, type TrialRow } from "./trial-row.ts";
import { findUnsealed, readSealedRecord } from "./unsealed.ts";

export interface SealRunInput {
  readonly bundle: BundleWriter;
  readonly runId: string;
  readonly condition: Condition;
  readonly order: "interleaved" | "separate";
  readonly prepared: PreparedPlan;
  /** Bytes of the surface that the run's preflight saw; null in control. */
  readonly surface: Buffer | null;
  /** The last attempt of every planned trial of the condition; the records are read from the store. */
  readonly trials: RunReport["trials"];
  readonly superseded?: RunReport["superseded"];
  readonly cutOff?: NonNullable<RunReport["cutOff"]>;
  /** Earlier reports of the run, which are in the store. */
  readonly earlier?: NonNullable<RunReport["earlier"]>;
  /** The oracle evidence that the run relied on when it was opened; default: the plan's. */
  readonly oracle?: RunReport["oracle"];
  readonly engine: Pick<Engine, "facts">;
  readonly startedAt: string;
  readonly finishedAt: string;
}

/** A run that is whole: its bundle, its anchor, and what was derived. */
export interface SealedRun {
  readonly dir: string;
  readonly condition: Condition;
  readonly anchor: Digest;
  readonly report: RunReport;
  readonly rows: readonly TrialRow[];
}

/** Derives a run's rows, writes its root document and gives the anchor. */
export async function sealRun(input: SealRunInput): Promise<SealedRun> {
  const { bundle, prepared, condition, superseded = [], cutOff = [], earlier = [] } = input;
  const { store } = bundle;
  const trials = [...input.trials].sort((a, b) => a.number - b.number);
  const rows: TrialRow[] = [];
  for (const { record: ref } of trials) {
    const record = await readSealedRecord(store, ref);
    rows.push(await deriveRow(store, record, rowContext(prepared.plan, prepared.surface.tools, record.task)));
  }
  const cassettes: RunReport["cassettes"] = {};
  const stored = new Map<Digest, ObjectRef>();
  for (const { number } of prepared.plan.trials.filter((trial) => trial.condition === condition)) {
    const cassette = prepared.cassettes.get(number);
    if (cassette === undefined) continue;
    const ref = stored.get(cassette.digest) ?? (await store.put(cassette.bytes));
    stored.set(cassette.digest, ref);
    cassettes[String(number)] = ref;
  }
  const ledgerPath = join(bundle.dir, BUNDLE.ledger);
  const head = bundle.ledger.head();
  if (head === null) throw new Error("a run's ledger is never empty");
  const { plan } = prepared;
  const listed: RunReport = {
    schemaVersion: "1",
    kind: "run",
    runId: input.runId,
    studyId: plan.studyId,
    condition,
    evidenceClass: plan.evidenceClass,
    causalClaimAuthorized: false,
    subset: plan.subset,
    order: input.order,
    modelSource: plan.model?.source ?? "none",
    plan: await store.put(canonicalBytes(plan)),
    ledger: { digest: await digestFile(ledgerPath), size: (await stat(ledgerPath)).size, head },
    trials,
    superseded: [...superseded],
    ...(cutOff.length === 0 ? {} : { cutOff: [...cutOff] }),
    ...(earlier.length === 0 ? {} : { earlier: [...earlier] }),
    oracle: input.oracle ?? (await storeOracle(store, prepared)),
    host: { ...input.engine.facts },
    images: Object.fromEntries(Object.values(prepared.own.lock.images).map((image) => [image.name, image])),
    lockedSurface: await store.put(canonicalBytes(prepared.surface)),
    observedSurface: input.surface === null ? null : await store.put(input.surface),
    cassettes,
    outcomes: countOutcomes(rows),
    rows: await store.put(rowLines(rows)),
    startedAt: input.startedAt,
    finishedAt: input.finishedAt,
  };
  const unsealed = cutOff.length === 0 && earlier.length === 0 ? [] : await findUnsealed(bundle.dir, store, listed);
  const report = unsealed.length === 0 ? listed : { ...listed, unsealed };
  await store.sync();
  const anchor = await writeReport(join(bundle.dir, BUNDLE.report), report);
  return { dir: bundle.dir, condition, anchor, report, rows };
}

/** Puts the oracle evidence that a plan relies on into a run's store. */
export async function storeOracle(
  store: Pick<ObjectStore, "put">,
  { tasks }: Pick<PreparedPlan, "tasks">,
): Promise<RunReport["oracle"]> {
  const oracle: RunReport["oracle"] = {};
  for (const [id, task] of tasks) oracle[id] = await store.put(canonicalBytes(task.oracle));
  return oracle;
}

/** Rows as JSON lines, each canonical. */
export function rowLines(rows: readonly TrialRow[]): string {
  return rows.map((row) => `${canonicalText(row)}\n`).join("");
}

/** How often each outcome occurred. */
export function countOutcomes(rows: readonly TrialRow[]): RunReport["outcomes"] {
  return Object.fromEntries(
    OUTCOMES.map((outcome) => [outcome, rows.filter((row) => row.outcome === outcome).length]),
  ) as RunReport["outcomes"];
}

/** What the derivation of a task's rows takes from the plan. */
export function rowContext(plan: Plan, tools: readonly { readonly name: string }[], task: string): RowContext {
  const agent = findAgent(plan.agent.name);
  return {
    agent: typeof agent === "string" ? null : agent,
    server: plan.mcp.name,
    serverTools: tools.map(({ name }) => name),
    expectedOperations: plan.expectedOperations[task] ?? null,
  };
}
