import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { digestBytes, digestFile, digestJson } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { rederiveTrial } from "../trial/rederive.ts";
import { oracleKey, parseOracleEvidence } from "./oracle-evidence.ts";
import { orderTrials } from "./order.ts";
import { type Plan, planSchema } from "./plan.ts";
import type { RunReport } from "./run-report.ts";
import { countOutcomes, rowContext, rowLines } from "./seal-run.ts";
import { deriveRow, type TrialRow } from "./trial-row.ts";
import type { BundleReader } from "./verify-bundle.ts";

/** Checks a run's bundle beyond its digests: plan, coverage, ledger, oracle evidence, surfaces, and every derived value. */
export async function verifyRun(reader: BundleReader, report: RunReport): Promise<void> {
  const { refuse, store } = reader;
  const plan = parseInput(
    planSchema,
    parseStrictJson(await store.readAll(report.plan), { source: "the plan" }),
    "the plan",
  );
  await checkPlan(reader, report, plan);
  await checkLedger(reader, report);
  checkCoverage(reader, report, plan);
  await checkOracle(reader, report, plan);
  const locked = await readSurface(reader, report.lockedSurface);
  if (surfaceDigest(locked) !== plan.mcp.surface) refuse("the locked surface is not the plan's");
  if (report.condition === "treatment") {
    if (report.observedSurface === null) refuse("the treatment has no observed surface");
    else if (surfaceDigest(await readSurface(reader, report.observedSurface)) !== plan.mcp.surface) {
      refuse("the surface that the preflight saw is not the locked one");
    }
  } else if (report.observedSurface !== null) refuse("control saw an MCP server");
  await checkDerived(reader, report, plan, locked);
}

async function checkPlan({ dir, refuse }: BundleReader, report: RunReport, plan: Plan): Promise<void> {
  const path = join(dir, BUNDLE.plan);
  if (!(await lstat(path)).isFile()) refuse(`${BUNDLE.plan} is not a regular file`);
  if (digestBytes(await readFile(path)) !== report.plan.digest) refuse(`${BUNDLE.plan} is not the report's plan`);
  const drawn = orderTrials(
    plan.tasks.map(({ id }) => id),
    plan.repetitions,
    plan.seed,
  );
  if (digestJson(drawn) !== digestJson(plan.trials)) refuse("the plan's order is not the one its seed draws");
  const bound: [string, unknown, unknown][] = [
    ["studyId", report.studyId, plan.studyId],
    ["evidenceClass", report.evidenceClass, plan.evidenceClass],
    ["subset", report.subset, plan.subset],
    ["modelSource", report.modelSource, plan.model?.source ?? "none"],
  ];
  for (const [name, here, there] of bound) {
    if (here !== there) refuse(`${name}: the report says ${JSON.stringify(here)}, its plan ${JSON.stringify(there)}`);
  }
}

async function checkLedger({ dir, ledger, refuse }: BundleReader, report: RunReport): Promise<void> {
  const digest = await digestFile(join(dir, BUNDLE.ledger));
  if (digest !== report.ledger.digest)
    refuse(`${BUNDLE.ledger} has digest ${digest}, the report says ${report.ledger.digest}`);
  if (ledger.head !== report.ledger.head) refuse(`${BUNDLE.ledger} ends with another line than the report says`);
  const sealed = ledger.lines.filter(({ event }) => event.type === "trial-sealed").map(({ event }) => event);
  const listed = [...report.superseded, ...report.trials];
  for (const { number, attempt, record } of listed) {
    const lines = sealed.filter((event) => event.number === number && event.attempt === attempt);
    if (lines.length !== 1) refuse(`trial ${number}, attempt ${attempt}: sealed ${lines.length} times in the ledger`);
    else if (digestJson(lines[0]?.record) !== digestJson(record)) {
      refuse(`trial ${number}, attempt ${attempt}: the ledger seals another record than the report lists`);
    }
  }
  if (sealed.length !== listed.length)
    refuse(`the ledger seals ${sealed.length} attempts, the report lists ${listed.length}`);
}

function checkCoverage({ records, refuse }: BundleReader, report: RunReport, plan: Plan): void {
  const planned = new Map(
    plan.trials.filter(({ condition }) => condition === report.condition).map((trial) => [trial.number, trial]),
  );
  const seen = new Set<number>();
  for (const { number, attempt, record: ref } of report.trials) {
    const trial = planned.get(number);
    if (seen.has(number)) refuse(`trial ${number} is there twice`);
    seen.add(number);
    if (trial === undefined) refuse(`trial ${number} is not planned for ${report.condition}`);
    const record = records.get(ref.digest);
    if (record === undefined || trial === undefined) continue;
    const binding = plan.tasks.find(({ id }) => id === trial.task);
    const bound: [string, unknown, unknown][] = [
      ["number", record.number, number],
      ["attempt", record.attempt, attempt],
      ["task", record.task, trial.task],
      ["task digest", record.taskDigest, binding?.digests.task],
      ["condition", record.condition, trial.condition],
      ["repetition", record.repetition, trial.repetition],
      ["agent", record.agent.name, plan.agent.name],
      ["agent version", record.agent.version, plan.agent.version],
      ["model source", record.modelSource, plan.model?.source ?? "none"],
    ];
    for (const [name, here, there] of bound) {
      if (here !== there)
        refuse(`trial ${number}: ${name} is ${JSON.stringify(here)}, planned is ${JSON.stringify(there)}`);
    }
  }
  for (const number of planned.keys()) if (!seen.has(number)) refuse(`trial ${number} is missing`);
  for (const [number, { digest }] of Object.entries(report.cassettes)) {
    if (plan.cassettes[number] !== digest) refuse(`trial ${number}: its cassette is not the plan's`);
  }
}

async function checkOracle({ store, refuse }: BundleReader, report: RunReport, plan: Plan): Promise<void> {
  for (const task of plan.tasks) {
    const ref = report.oracle[task.id];
    if (ref === undefined) {
      refuse(`${task.id}: the bundle holds no oracle evidence`);
      continue;
    }
    try {
      const evidence = parseOracleEvidence(await store.readAll(ref), `the oracle evidence of ${task.id}`);
      const { contract, verifier, oracle, traps } = task.digests;
      const parts = {
        contract,
        verifier,
        oracle,
        traps,
        "environment image": task.environmentImage,
        "verifier images": digestJson(task.verifierImages),
      };
      if (evidence.task !== task.id || evidence.key !== task.oracle || oracleKey(parts) !== task.oracle) {
        refuse(`${task.id}: its oracle evidence proves something else than the plan binds`);
      }
      if (digestJson(evidence.parts) !== evidence.key)
        refuse(`${task.id}: its oracle evidence does not belong to its own key`);
    } catch (thrown) {
      refuse(messageOf(thrown));
    }
  }
}

async function readSurface({ store }: BundleReader, ref: RunReport["lockedSurface"]): Promise<Surface> {
  const source = "the surface";
  return parseInput<Surface>(surfaceSchema, parseStrictJson(await store.readAll(ref), { source }), source);
}

async function checkDerived(reader: BundleReader, report: RunReport, plan: Plan, locked: Surface): Promise<void> {
  const { store, records, refuse } = reader;
  const rows: TrialRow[] = [];
  for (const { number, record: ref } of report.trials) {
    const record = records.get(ref.digest);
    if (record === undefined) continue;
    try {
      const context = rowContext(plan, locked.tools, record.task);
      for (const reason of await rederiveTrial(store, record, context)) refuse(`trial ${number}: ${reason}`);
      rows.push(await deriveRow(store, record, context));
    } catch (thrown) {
      refuse(`trial ${number}: ${messageOf(thrown)}`);
    }
  }
  const bytes = Buffer.from(rowLines(rows));
  if (digestBytes(bytes) !== report.rows.digest) refuse("the derived rows do not come out again");
  if (!canonicalBytes(countOutcomes(rows)).equals(canonicalBytes(report.outcomes))) {
    refuse("the counts of outcomes do not come out again");
  }
}
