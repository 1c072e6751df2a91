import { stat } from "node:fs/promises";
import { join } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { canonicalBytes, canonicalText } from "../base/canonical-json.ts";
import { type Digest, digestFile } from "../base/digest.ts";
import type { Engine } from "../docker/engine.ts";
import { writeReport } from "../evidence/anchor.ts";
import { BUNDLE, type BundleWriter } from "../evidence/bundle.ts";
import { OUTCOMES } from "../trial/record.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { Condition } from "./order.ts";
import type { Plan } from "./plan.ts";
import type { RunReport } from "./run-report.ts";
import type { SealedTrial } from "./sealed-trial.ts";
import { deriveRow, type RowContext, type TrialRow } from "./trial-row.ts";

export interface SealRunInput {
  readonly bundle: BundleWriter;
  readonly runId: string;
  readonly condition: Condition;
  readonly order: "interleaved" | "separate";
  readonly prepared: PreparedPlan;
  /** Bytes of the surface that the run's preflight saw; null in control. */
  readonly surface: Buffer | null;
  readonly trials: readonly SealedTrial[];
  readonly engine: Engine;
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
  const { bundle, prepared, condition } = input;
  const { store } = bundle;
  const trials = [...input.trials].sort((a, b) => a.record.number - b.record.number);
  const rows: TrialRow[] = [];
  for (const { record } of trials)
    rows.push(await deriveRow(store, record, rowContext(prepared.plan, prepared.surface.tools, record.task)));
  const oracle: RunReport["oracle"] = {};
  for (const [id, task] of prepared.tasks) oracle[id] = await store.put(canonicalBytes(task.oracle));
  const cassettes: RunReport["cassettes"] = {};
  for (const { number } of prepared.plan.trials.filter((trial) => trial.condition === condition)) {
    const cassette = prepared.cassettes.get(number);
    if (cassette !== undefined) cassettes[String(number)] = await store.put(cassette.bytes);
  }
  const ledgerPath = join(bundle.dir, BUNDLE.ledger);
  const head = bundle.ledger.head();
  if (head === null) throw new Error("a run's ledger is never empty");
  const { plan } = prepared;
  const report: RunReport = {
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
    trials: trials.map(({ record, ref }) => ({ number: record.number, attempt: record.attempt, record: ref })),
    superseded: [],
    oracle,
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
  await store.sync();
  const anchor = await writeReport(join(bundle.dir, BUNDLE.report), report);
  return { dir: bundle.dir, condition, anchor, report, rows };
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
