import { RunnerError } from "../base/errors.ts";
import type { ReportModel, Source } from "../report/model.ts";
import type { Comparison } from "./comparison.ts";
import type { TrialFacts } from "./examine-trial.ts";
import type { ReportedBundle } from "./report-bundle.ts";
import { cautionsOf, countingRules, studyFacts } from "./report-facts.ts";
import { pairedPart, pairedTask } from "./report-paired.ts";
import { bundleTimelines } from "./report-timeline.ts";
import { attemptLines, compareLines, sideFacts, taskLines, trialLines } from "./report-trials.ts";

/** Trials whose timelines a report draws when none are asked for. */
const TIMELINES = 12;

export interface BuildInput {
  /** One bundle, or control and treatment of one plan. */
  readonly bundles: readonly ReportedBundle[];
  /** The comparison of two bundles; null for one. */
  readonly comparison: Comparison | null;
  /** Numbers of trials whose timelines are drawn; empty: the first by task. */
  readonly timelineTrials: readonly number[];
}

/** A report from bundles whose evidence held. The same bundles give the same model. */
export async function buildReport({ bundles, comparison, timelineTrials }: BuildInput): Promise<ReportModel> {
  const [first] = bundles;
  if (first === undefined) throw new Error("a report needs a bundle");
  const trials = bundles.flatMap(trialLines).sort(compareLines);
  const unknown = timelineTrials.filter((number) => !trials.some((trial) => trial.number === number));
  if (unknown.length > 0) {
    throw new RunnerError("usage", "TRIAL_UNKNOWN", `no trial has the number ${unknown.join(", ")}`, {
      hint: `There are ${trials.length} trials, ${Math.min(...trials.map(({ number }) => number))} to ${Math.max(...trials.map(({ number }) => number))}.`,
    });
  }
  const order = bundles.some(({ report }) => report.order === "separate") ? "separate" : "interleaved";
  const study = studyFacts(first.plan, order, first.report.modelSource, first.report.plan.digest);
  const sources = bundles.map(
    ({ report, sha256, heldAgainstAnchor }): Source => ({
      name: report.condition,
      sha256,
      heldAgainstAnchor,
      checked: "every digest and every derived value",
    }),
  );
  const wanted = new Set(
    timelineTrials.length > 0
      ? timelineTrials
      : firstPairs(bundles.flatMap((bundle) => bundle.trials.map(({ facts }) => facts))),
  );
  const timelines = [];
  for (const bundle of bundles) timelines.push(...(await bundleTimelines(bundle, wanted)));
  const place = new Map(trials.map(({ number }, index) => [number, index]));
  timelines.sort((a, b) => (place.get(a.number) ?? 0) - (place.get(b.number) ?? 0));
  const left = trials.length - timelines.length;
  return {
    schemaVersion: "1",
    kind: "report",
    subject: bundles.length === 1 ? "run" : "pair",
    study,
    sources,
    cautions: cautionsOf(study, sources, trials.filter(({ reward }) => reward === null).length),
    rules: countingRules(comparison !== null),
    sides: bundles.map(sideFacts),
    tasks: taskLines(
      trials,
      bundles.map(({ report }) => report.condition),
    ).map((line) => ({ ...line, paired: comparison === null ? null : pairedTask(comparison, line.task) })),
    trials,
    attempts: bundles.flatMap(attemptLines).sort((a, b) => compareLines(a, b) || a.attempt - b.attempt),
    paired: comparison === null ? null : pairedPart(comparison),
    timelines,
    timelinesLeftOut:
      left > 0 ? `${left} of ${trials.length} trials are not drawn; name them with --trial to see them.` : null,
    reviews: [],
  };
}

/** The first trials by task and repetition, pairs kept whole. */
function firstPairs(records: readonly TrialFacts[]): number[] {
  const key = ({ task, repetition }: TrialFacts): string => JSON.stringify([task, repetition]);
  const sorted = [...records].sort((a, b) => compareLines(lineOf(a), lineOf(b)));
  const groups = [...new Set(sorted.map(key))];
  const perGroup = records.length / groups.length;
  const chosen = new Set(groups.slice(0, Math.max(1, Math.floor(TIMELINES / Math.max(1, perGroup)))));
  return sorted.filter((record) => chosen.has(key(record))).map(({ number }) => number);
}

function lineOf({ task, repetition, condition }: TrialFacts) {
  return { task, repetition, side: condition };
}
