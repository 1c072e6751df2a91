import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { isDigest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { parseInput } from "../base/zod-input.ts";
import { analysePairs } from "../stats/analysis.ts";
import { ANALYSIS_METHODS, type AnalysisPlan } from "../stats/plan.ts";
import { analyseSecondary, type Multiplicity } from "../stats/secondary.ts";
import { machineDifferences, pairReasons } from "./compare-bindings.ts";
import {
  figureOf,
  pairedMetrics,
  SERVER_METRICS,
  secondaryMetric,
  serverLine,
  type TrialMetric,
} from "./compare-metrics.ts";
import { countUse, tallyOf } from "./compare-tally.ts";
import { interpret, methodSentences } from "./compare-wording.ts";
import type {
  ComparedPair,
  ComparedRun,
  ComparedStudy,
  ComparedTrial,
  Comparison,
  RefusedComparison,
  ValidComparison,
} from "./comparison.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import { pairFileReasons } from "./pair-file.ts";
import type { Plan } from "./plan.ts";
import type { TrialRow } from "./trial-row.ts";
import { inspectBundle, type Verification } from "./verify-bundle.ts";
import type { VerifiedRun } from "./verify-run.ts";

/** What is compared, and against which anchors. */
export interface CompareRequest {
  /** The two bundles, or the folder that holds them as `control` and `treatment`. */
  readonly folders: readonly [control: string, treatment: string] | readonly [parent: string];
  /** Anchors as given; undefined where none was. */
  readonly anchors: { readonly control: string | undefined; readonly treatment: string | undefined };
}

/**
 * Compares two runs. Both bundles are recomputed from their bytes against their anchors; nothing of an editable summary is used. Whatever
 * stands against the comparison is listed, all of it, and then there are no figures. The same bytes give the same comparison.
 */
export async function compareBundles(request: CompareRequest, signal: AbortSignal): Promise<Comparison> {
  const reasons: string[] = [];
  const folders = await resolveFolders(request.folders, reasons);
  const sides: Partial<Record<Condition, { readonly run: VerifiedRun; readonly verification: Verification }>> = {};
  for (const side of CONDITIONS) {
    const anchor = request.anchors[side];
    const problem = anchorProblem(side, anchor);
    const dir = folders[side];
    if (problem !== null) reasons.push(problem);
    if (problem !== null || dir === null || anchor === undefined) continue;
    const { run, verification } = await inspectBundle(dir, anchor, signal);
    for (const reason of verification.reasons) reasons.push(`${side}: ${reason}`);
    if (run !== null) sides[side] = { run, verification };
    else if (verification.reasons.length === 0)
      reasons.push(`${side}: the bundle is of kind ${verification.kind}, not a run`);
  }
  const { control, treatment } = sides;
  if (request.anchors.control !== undefined && request.anchors.control === request.anchors.treatment)
    reasons.push("anchors: both are the same, so there is one run and nothing to compare it with");
  if (control !== undefined && treatment !== undefined) {
    reasons.push(...pairReasons(control.run, treatment.run));
    reasons.push(...(await parentReasons(request, control, treatment)));
  }
  if (reasons.length > 0 || control === undefined || treatment === undefined) return refused(request, reasons);
  const made = derive(control, treatment, { control: request.anchors.control, treatment: request.anchors.treatment });
  return "valid" in made ? made : refused(request, made.reasons);
}

/** The folder of both runs says which two belong together; of two folders that are named one by one the operator says it. */
async function parentReasons({ folders, anchors }: CompareRequest, control: Side, treatment: Side): Promise<string[]> {
  const [parent, second] = folders;
  const { control: c, treatment: t } = anchors;
  if (second !== undefined || !isDigest(c) || !isDigest(t)) return [];
  return pairFileReasons(parent, {
    control: { condition: "control", anchor: c, report: control.run.report },
    treatment: { condition: "treatment", anchor: t, report: treatment.run.report },
  });
}

/** The bytes of a comparison's file: canonical JSON, the same for the same bundles. */
export function comparisonBytes(comparison: Comparison): Buffer {
  return canonicalBytes(comparison);
}

function refused({ anchors }: CompareRequest, reasons: readonly string[]): RefusedComparison {
  return {
    schemaVersion: "1",
    kind: "comparison",
    valid: false,
    verdict: "invalid",
    reasons: [...new Set(reasons)],
    causalClaimAuthorized: false,
    anchors: { control: anchors.control ?? null, treatment: anchors.treatment ?? null },
  };
}

function anchorProblem(side: Condition, anchor: string | undefined): string | null {
  if (anchor === undefined)
    return `${side}: its anchor is missing: pass --${side}-report-sha256 with the report_sha256 line that the run printed`;
  return isDigest(anchor)
    ? null
    : `${side}: its anchor is malformed: expected sha256:<64 hex>, got ${JSON.stringify(anchor)}`;
}

async function resolveFolders(
  folders: CompareRequest["folders"],
  reasons: string[],
): Promise<Record<Condition, string | null>> {
  const [first, second] = folders;
  const resolved = { control: first, treatment: second ?? "" };
  if (second === undefined) {
    resolved.control = join(first, "control");
    resolved.treatment = join(first, "treatment");
  }
  const found: Record<Condition, string | null> = { control: null, treatment: null };
  for (const side of CONDITIONS) {
    const dir = resolved[side];
    // What the operator names may be a link; what lies in the folder of both runs may not.
    const info = await (second === undefined ? lstat(dir) : stat(dir)).catch(() => null);
    if (info?.isDirectory() === true) found[side] = dir;
    else if (info?.isSymbolicLink() === true) reasons.push(`${side}: ${dir} is a symbolic link`);
    else reasons.push(`${side}: ${dir} is not a folder`);
  }
  return found;
}

interface Side {
  readonly run: VerifiedRun;
  readonly verification: Verification;
}

const analysisSchema = z.strictObject({
  primary: z.literal("reward"),
  method: z.enum(ANALYSIS_METHODS),
  alpha: z.number().gt(0).lt(1),
  missing: z.literal("drop-pair"),
  minCoverage: z.number().min(0).max(1),
  maxDropImbalance: z.number().min(0).max(1),
  /** How several secondary metrics are handled; Holm's adjustment unless the plan says otherwise. */
  multiplicity: z.enum(["holm", "none"]).optional(),
});

function readAnalysis(plan: Plan): { readonly plan: AnalysisPlan; readonly multiplicity: Multiplicity } {
  const { method, alpha, missing, minCoverage, maxDropImbalance, multiplicity } = parseInput(
    analysisSchema,
    plan.analysis,
    "the plan's analysis",
  );
  return {
    plan: { method, alpha, missing, minCoverage, maxDropImbalance },
    multiplicity: multiplicity ?? "holm",
  };
}

function derive(
  control: Side,
  treatment: Side,
  anchors: CompareRequest["anchors"],
): ValidComparison | { readonly reasons: readonly string[] } {
  const { plan } = control.run;
  const paired = pairedMetrics(
    [...control.run.rows, ...treatment.run.rows],
    new Set(plan.tasks.map(({ reward }) => reward.key)),
  );
  const pairs = pairUp(control.run, treatment.run, paired);
  if ("reasons" in pairs) return pairs;
  let settings: ReturnType<typeof readAnalysis>;
  try {
    settings = readAnalysis(plan);
  } catch (thrown) {
    if (!(thrown instanceof RunnerError)) throw thrown;
    return { reasons: [thrown.message] };
  }
  const analysis = analysePairs(
    pairs.map(({ task, repetition, control: c, treatment: t }) => ({
      task,
      repetition,
      control: scoreOf(c),
      treatment: scoreOf(t),
    })),
    settings.plan,
  );
  if (analysis.verdict === "invalid") throw new Error("statistics give no verdict invalid");
  const { alpha } = settings.plan;
  const results = analyseSecondary(
    paired.map((metric) => secondaryMetric(metric, pairs)),
    alpha,
    settings.multiplicity,
  );
  const study = studyOf(control.run);
  const { order } = control.run.report;
  const sides = {
    control: runOf(control, anchors.control),
    treatment: runOf(treatment, anchors.treatment),
  };
  const use = countUse(treatment.run.rows);
  const machines = machineDifferences(control.run, treatment.run);
  const driven = treatment.run.rows.some(({ metrics }) => metrics !== null);
  return {
    schemaVersion: "1",
    kind: "comparison",
    valid: true,
    verdict: analysis.verdict,
    reasons: analysis.reasons,
    causalClaimAuthorized: false,
    evidenceClass: plan.evidenceClass,
    order,
    study,
    ...sides,
    primary: { metric: "reward", analysis },
    secondary: {
      alpha,
      multiplicity: settings.multiplicity,
      metrics: results.flatMap((result, index) => {
        const metric = paired[index];
        return metric === undefined ? [] : [{ ...result, unit: metric.unit, label: metric.label }];
      }),
    },
    server: { use, metrics: driven ? SERVER_METRICS.map((metric) => serverLine(metric, treatment.run.rows)) : [] },
    pairs,
    interpretation: interpret({ study, order, analysis, ...sides, use, machines }),
    method: methodSentences(analysis, settings.multiplicity, results.length),
  };
}

function scoreOf({ reward, outcome }: ComparedTrial): Known<number> {
  return reward ?? unknown("missing", `the trial is ${outcome}`);
}

/** Joins the rows to the plan's pairs; every planned trial has exactly one row, or nothing is compared. */
function pairUp(
  control: VerifiedRun,
  treatment: VerifiedRun,
  paired: readonly TrialMetric[],
): ComparedPair[] | { readonly reasons: readonly string[] } {
  const reasons: string[] = [];
  const rows = new Map<number, TrialRow>();
  for (const row of [...control.rows, ...treatment.rows]) {
    if (rows.has(row.number)) reasons.push(`trial ${row.number} is there twice`);
    rows.set(row.number, row);
  }
  const pairs = new Map<number, Partial<Record<Condition, TrialRow>>>();
  for (const { number, pair, condition, task, repetition } of control.plan.trials) {
    const row = rows.get(number);
    if (row === undefined) reasons.push(`trial ${number} (${task}, repetition ${repetition}, ${condition}) is missing`);
    else pairs.set(pair, { ...pairs.get(pair), [condition]: row });
  }
  const withServer = [...paired, ...SERVER_METRICS];
  const joined = [...pairs].flatMap(([pair, both]): ComparedPair[] => {
    const { control: c, treatment: t } = both;
    if (c === undefined || t === undefined) {
      reasons.push(`pair ${pair} has one side only`);
      return [];
    }
    const unscored = [c, t].filter(({ outcome }) => outcome !== "scored");
    const words = unscored.map(
      ({ condition, outcome, cause }) => `${condition} is ${outcome}${cause === null ? "" : ` (${cause})`}`,
    );
    return [
      {
        pair,
        task: c.task,
        repetition: c.repetition,
        control: trialOf(c, paired),
        treatment: trialOf(t, t.metrics === null ? paired : withServer),
        dropped: words.length === 0 ? null : words.join("; "),
      },
    ];
  });
  return reasons.length > 0 ? { reasons } : joined;
}

function trialOf(row: TrialRow, metrics: readonly TrialMetric[]): ComparedTrial {
  const { number, attempt, outcome, cause, agentEnd, reward } = row;
  return {
    number,
    attempt,
    outcome,
    cause,
    agentEnd,
    reward,
    values: Object.fromEntries(metrics.map((metric) => [metric.name, figureOf(row, metric)])),
  };
}

function runOf({ run, verification }: Side, anchor: string | undefined): ComparedRun {
  const { runId, order, startedAt, finishedAt, superseded, host } = run.report;
  if (!isDigest(anchor)) throw new Error("a run was verified without its anchor");
  const { trials, objects, bytes } = verification;
  return {
    runId,
    reportSha256: anchor,
    order,
    startedAt,
    finishedAt,
    superseded: superseded.length,
    tally: tallyOf(run.rows),
    evidence: { trials, objects, bytes },
    host,
  };
}

function studyOf({ plan, report }: VerifiedRun): ComparedStudy {
  const { studyId, studyDigest, evidenceClass, subset, runner, platform, datasetDigest } = plan;
  const { agent, model, mcp, budgets, repetitions, seed } = plan;
  return {
    studyId,
    studyDigest,
    evidenceClass,
    subset,
    runner,
    platform,
    datasetDigest,
    agent,
    model,
    mcp,
    budgets,
    repetitions,
    seed,
    plan: report.plan.digest,
    tasks: plan.tasks.map(({ id }) => id),
    modelSource: report.modelSource,
  };
}
