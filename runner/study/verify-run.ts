import { createHash } from "node:crypto";
import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes, digestJson } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import { partSharer } from "../base/share-parts.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { digestSchema } from "../evidence/object-ref.ts";
import { checkLedger, type SupersededAttempt } from "./check-ledger.ts";
import { checkOpening } from "./check-opening.ts";
import type { TrialFacts } from "./examine-trial.ts";
import { oracleKey, parseOracleEvidence } from "./oracle-evidence.ts";
import { orderTrials } from "./order.ts";
import { type Plan, planSchema } from "./plan.ts";
import type { RunReport } from "./run-report.ts";
import { countOutcomes } from "./seal-run.ts";
import { limitsOf } from "./trial-expectation.ts";
import type { TrialRow } from "./trial-row.ts";
import type { BundleReader } from "./verify-bundle.ts";

/** A run as its bytes say it: the root document, the plan, and what was derived again. */
export interface VerifiedRun {
  readonly report: RunReport;
  readonly plan: Plan;
  readonly locked: Surface;
  /** In the order of the report's trials. */
  readonly trials: readonly VerifiedTrial[];
  /** Sealed attempts that a later one superseded, by their records. */
  readonly superseded: readonly SupersededAttempt[];
  /** The rows of the trials. */
  readonly rows: readonly TrialRow[];
  /** Image ids by task and role, the same in all of a task's trials. */
  readonly images: ReadonlyMap<string, ReadonlyMap<string, Digest>>;
}

/** One trial: its row as derived again, and what its record says beside it. */
export interface VerifiedTrial {
  readonly row: TrialRow;
  readonly facts: TrialFacts;
}

/** Checks a run's bundle beyond its digests: plan, coverage, ledger, oracle evidence, images, surfaces, and every derived value. */
export async function verifyRun(reader: BundleReader, report: RunReport): Promise<VerifiedRun> {
  const { refuse, store } = reader;
  const planBytes = await store.readAll(report.plan);
  const plan = parseInput(planSchema, parseStrictJson(planBytes, { source: "the plan" }), "the plan");
  if (!canonicalBytes(plan).equals(planBytes)) refuse(`${BUNDLE.plan} is not canonical JSON`);
  // A plan whose limits are none holds no trial to anything.
  limitsOf(plan);
  await checkPlan(reader, report, plan);
  const superseded = await checkLedger(reader, report);
  checkOpening(reader, report);
  checkCoverage(reader, report, plan);
  checkImages(reader, report, plan);
  await checkOracle(reader, report, plan);
  const locked = await readSurface(reader, report.lockedSurface);
  if (surfaceDigest(locked) !== plan.mcp.surface) refuse("the locked surface is not the plan's");
  if (digestJson(locked.catalog) !== digestJson(plan.mcp.catalog)) refuse("the locked catalog is not the plan's");
  if (report.condition === "treatment") {
    if (report.observedSurface === null) refuse("the treatment has no observed surface");
    else if (surfaceDigest(await readSurface(reader, report.observedSurface)) !== plan.mcp.surface) {
      refuse("the surface that the preflight saw is not the locked one");
    }
  } else if (report.observedSurface !== null) refuse("control saw an MCP server");
  return { report, plan, locked, superseded, ...checkDerived(reader, report, plan) };
}

async function checkPlan({ dir, refuse }: BundleReader, report: RunReport, plan: Plan): Promise<void> {
  const path = join(dir, BUNDLE.plan);
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() !== true) return refuse(`${BUNDLE.plan} is missing, or no regular file`);
  else if (digestBytes(await readFile(path)) !== report.plan.digest) refuse(`${BUNDLE.plan} is not the report's plan`);
  const ids = plan.tasks.map(({ id }) => id);
  for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index)))
    refuse(`${BUNDLE.plan}: task ${id} is there twice`);
  const drawn = orderTrials(ids, plan.repetitions, plan.seed);
  if (digestJson(drawn) !== digestJson(plan.trials)) refuse("the plan's order is not the one its seed draws");
  const dataset = plan.tasks.map(({ id, digests }) => ({ id, digest: digests.task }));
  if (digestJson(dataset) !== plan.datasetDigest) refuse("the plan's dataset digest is not that of its tasks");
  for (const { id, digests } of plan.tasks) {
    const { contract, verifier, oracle, traps, hidden, task } = digests;
    if (digestJson({ verifier, oracle, traps }) !== hidden || digestJson({ contract, hidden }) !== task)
      refuse(`${BUNDLE.plan}: the digests of task ${id} do not belong together`);
  }
  if (digestJson([...new Set(plan.allowEnvironment)].sort()) !== digestJson(Object.keys(plan.environment ?? {}).sort()))
    refuse("the plan does not bind the environment variables that it allows");
  const bound: [string, unknown, unknown][] = [
    ["studyId", report.studyId, plan.studyId],
    ["evidenceClass", report.evidenceClass, plan.evidenceClass],
    ["subset", report.subset, plan.subset],
    ["modelSource", report.modelSource, plan.model?.source ?? "none"],
    ["host.os", report.host.os, plan.platform.os],
    ["host.arch", report.host.arch, plan.platform.arch],
  ];
  for (const [name, here, there] of bound) {
    if (here !== there) refuse(`${name}: the report says ${JSON.stringify(here)}, its plan ${JSON.stringify(there)}`);
  }
}

function checkCoverage({ refuse }: BundleReader, report: RunReport, plan: Plan): void {
  const planned = new Set(
    plan.trials.filter(({ condition }) => condition === report.condition).map(({ number }) => number),
  );
  const seen = new Set<number>();
  let last = 0;
  for (const { number } of report.trials) {
    if (seen.has(number)) refuse(`trial ${number} is there twice`);
    else if (number < last) refuse(`trial ${number} stands after trial ${last}`);
    seen.add(number);
    last = number;
    if (!planned.has(number)) refuse(`trial ${number} is not planned for ${report.condition}`);
  }
  for (const number of planned) if (!seen.has(number)) refuse(`trial ${number} is missing`);
  for (const [number, digest] of Object.entries(plan.cassettes)) {
    if (planned.has(Number(number)) && report.cassettes[number]?.digest !== digest)
      refuse(`trial ${number}: its cassette is not the plan's`);
  }
  for (const number of Object.keys(report.cassettes)) {
    if (!planned.has(Number(number)) || plan.cassettes[number] === undefined)
      refuse(`trial ${number}: it has a cassette that is not planned`);
  }
}

const imageSchema = z.looseObject({
  name: z.string(),
  imageId: digestSchema,
  configDigest: digestSchema,
  inputDigest: digestSchema,
  packages: z.array(z.unknown()),
  packagesDigest: digestSchema,
});

function checkImages({ refuse }: BundleReader, report: RunReport, plan: Plan): void {
  const names = new Set([...Object.keys(report.images), ...Object.keys(plan.images)]);
  for (const name of names) {
    const place = `${BUNDLE.report}: image ${name}`;
    const planned = plan.images[name];
    const parsed = imageSchema.safeParse(report.images[name]);
    if (planned === undefined) refuse(`${place} is not in the plan`);
    else if (!parsed.success) refuse(`${place} is not there, or not whole`);
    else {
      const { packages, name: own, inputDigest, configDigest, packagesDigest } = parsed.data;
      if (own !== name) refuse(`${place} is named ${own}`);
      if (digestJson(packages) !== packagesDigest) refuse(`${place}: its packages are not those of its digest`);
      if (digestJson({ inputDigest, configDigest, packagesDigest }) !== digestJson(planned))
        refuse(`${place} is not the plan's`);
    }
  }
}

async function checkOracle({ store, refuse }: BundleReader, report: RunReport, plan: Plan): Promise<void> {
  for (const id of Object.keys(report.oracle)) {
    if (!plan.tasks.some((task) => task.id === id)) refuse(`${id}: it has oracle evidence and is not planned`);
  }
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
        refuse(`${task.id}: its oracle evidence is stale: it proves something else than the plan binds`);
      }
      if (digestJson(evidence.parts) !== evidence.key)
        refuse(`${task.id}: its oracle evidence does not belong to its own key`);
    } catch (thrown) {
      refuse(`${task.id}: ${messageOf(thrown)}`);
    }
  }
}

async function readSurface({ store }: BundleReader, ref: RunReport["lockedSurface"]): Promise<Surface> {
  const source = "the surface";
  return parseInput<Surface>(surfaceSchema, parseStrictJson(await store.readAll(ref), { source }), source);
}

function checkDerived(
  { refuse, derived }: BundleReader,
  report: RunReport,
  plan: Plan,
): Pick<VerifiedRun, "trials" | "rows" | "images"> {
  const taskOf = new Map(plan.trials.map(({ number, task }) => [number, task]));
  const images = new Map(plan.tasks.map(({ id }) => [id, new Map<string, Digest>()]));
  const trials: VerifiedTrial[] = [];
  const servers = new Map<string, Digest>();
  const share = partSharer();
  const hash = createHash("sha256");
  for (const [index, { number, attempt }] of [...report.trials, ...report.superseded].entries()) {
    const stands = index < report.trials.length;
    const place = stands ? `trial ${number}` : `trial ${number}, attempt ${attempt}`;
    const { facts = null, reasons = [], row = null } = derived[index] ?? {};
    const task = taskOf.get(number);
    if (facts === null || task === undefined) continue;
    for (const reason of reasons) refuse(`${place}: ${reason}`);
    const known = images.get(task) ?? new Map<string, Digest>();
    for (const reason of checkTrialImages(facts.images, report, plan, known, servers)) refuse(`${place}: ${reason}`);
    if (row === null || !stands) continue;
    trials.push({ row: share(JSON.parse(row) as TrialRow), facts });
    hash.update(row);
  }
  const rows = trials.map(({ row }) => row);
  if (`sha256:${hash.digest("hex")}` !== report.rows.digest) refuse("the derived rows do not come out again");
  if (!canonicalBytes(countOutcomes(rows)).equals(canonicalBytes(report.outcomes))) {
    refuse("the counts of outcomes do not come out again");
  }
  return { trials, rows, images };
}

/** The runner's own images by their bound id, every image of a task the same in all of its trials, and the server's in all of the run's. */
function checkTrialImages(
  images: Readonly<Record<string, Digest>>,
  report: RunReport,
  plan: Plan,
  known: Map<string, Digest>,
  servers: Map<string, Digest>,
): string[] {
  const reasons: string[] = [];
  const own: Readonly<Record<string, string>> = { gateway: "gateway", mcp: plan.mcp.image };
  for (const [role, id] of Object.entries(images)) {
    const bound = imageSchema.safeParse(report.images[own[role] ?? ""]);
    if (bound.success && bound.data.imageId !== id)
      reasons.push(`it ran the ${role} image ${id}, bound is ${bound.data.imageId}`);
    const before = known.get(role) ?? id;
    known.set(role, before);
    if (before !== id) reasons.push(`it ran the ${role} image ${id}, another trial of its task ${before}`);
  }
  const server = servers.get("mcp") ?? images.mcp;
  if (server !== undefined) servers.set("mcp", server);
  if (images.mcp !== undefined && images.mcp !== server)
    reasons.push(`it ran the mcp image ${images.mcp}, another trial of the run ${server}`);
  if (report.condition === "control" && images.mcp !== undefined) reasons.push("control ran an MCP server's image");
  return reasons;
}
