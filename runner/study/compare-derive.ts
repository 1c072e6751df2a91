import { isDigest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { analysePairs } from "../stats/analysis.ts";
import { analyseSecondary } from "../stats/secondary.ts";
import { readAnalysis } from "./compare-analysis.ts";
import { machineDifferences } from "./compare-bindings.ts";
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
import type { ComparedPair, ComparedRun, ComparedStudy, ComparedTrial, ValidComparison } from "./comparison.ts";
import type { Condition } from "./order.ts";
import type { TrialRow } from "./trial-row.ts";
import type { Verification } from "./verify-bundle.ts";
import type { VerifiedRun } from "./verify-run.ts";

/** One side whose evidence held. */
export interface Side {
  readonly run: VerifiedRun;
  readonly verification: Verification;
}

/** What two runs of one plan show, from their derived rows alone; or why nothing can be compared. */
export function derive(
  control: Side,
  treatment: Side,
  anchors: Readonly<Record<Condition, string | undefined>>,
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
    settings.plan,
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
  const { runId, order, startedAt, finishedAt, superseded, cutOff, host } = run.report;
  if (!isDigest(anchor)) throw new Error("a run was verified without its anchor");
  const { trials, objects, bytes } = verification;
  return {
    runId,
    reportSha256: anchor,
    order,
    startedAt,
    finishedAt,
    superseded: superseded.length,
    setAside: run.superseded.filter(({ graded }) => graded).length,
    cutOff: cutOff?.length ?? 0,
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
