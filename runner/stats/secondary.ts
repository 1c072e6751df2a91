import type { Known } from "../base/unknown.ts";
import { isUnknown, unknown } from "../base/unknown.ts";
import type { PairedTest } from "./analysis.ts";
import { testOf } from "./analysis.ts";
import type { Coverage } from "./coverage.ts";
import { measureCoverage } from "./coverage.ts";
import { differenceMoments, exactDifferences } from "./differences.ts";
import { type Interval, plainT } from "./floored-t.ts";
import { holm } from "./holm.ts";
import { type MethodInterval, methodInterval } from "./method-interval.ts";
import type { PlannedPair } from "./pairs.ts";
import { completeScores, groupPairs, meanOf } from "./pairs.ts";
import type { AnalysisPlan } from "./plan.ts";

/** A metric beside the primary one, over the same planned pairs. */
export interface SecondaryMetric {
  readonly name: string;
  /** `score`: a number in [0, 1]; `amount`: unbounded, such as tokens or microseconds. */
  readonly scale: "score" | "amount";
  readonly pairs: readonly PlannedPair[];
}

/** One line of the secondary table. It never carries a verdict. */
export interface SecondaryResult {
  readonly name: string;
  readonly coverage: Coverage;
  readonly control: Known<number>;
  readonly treatment: Known<number>;
  readonly difference: Known<number>;
  /**
   * Scores: by the plan's method, as the primary result has it. Amounts: the paired t interval, because they have no end of the scale that
   * a method for scores needs; it is too short where few tasks carry most of the spread.
   */
  readonly interval: Known<Omit<MethodInterval, "p"> | (Interval & { readonly method: "paired-t" })>;
  readonly test: Known<PairedTest>;
  /** Adjusted over all secondary metrics of the plan, unmeasured ones included. */
  readonly adjustedP: Known<number>;
}

function analyse(
  { name, scale, pairs }: SecondaryMetric,
  plan: Pick<AnalysisPlan, "method" | "alpha">,
): Omit<SecondaryResult, "adjustedP"> {
  const tasks = groupPairs(pairs);
  const scores = completeScores(tasks);
  const coverage = measureCoverage(tasks);
  if (scores.length === 0) {
    const none = unknown("missing", "no pair is complete");
    return { name, coverage, control: none, treatment: none, difference: none, interval: none, test: none };
  }
  const differences = exactDifferences(scores);
  const moments = differenceMoments(differences);
  const interval = (): SecondaryResult["interval"] => {
    if (moments.count < 2) return unknown("unavailable", "one task shows no spread between tasks");
    if (scale === "score") {
      const { p: _, ...interval } = methodInterval(plan, differences, moments);
      return interval;
    }
    if (moments.squares === 0)
      return unknown("unavailable", "all tasks differ alike, so their spread shows no uncertainty");
    return { method: "paired-t", ...plainT(moments, plan.alpha) };
  };
  return {
    name,
    coverage,
    control: meanOf(scores.map((task) => meanOf(task.control))),
    treatment: meanOf(scores.map((task) => meanOf(task.treatment))),
    difference: moments.mean,
    interval: interval(),
    test: testOf(differences, plan.alpha),
  };
}

/** How the plan handles several secondary metrics; `none` leaves p-values as they are, and readers are told. */
export type Multiplicity = "holm" | "none";

/** Analyses secondary metrics: unknown values dropped by pair and counted, p-values adjusted for the number of metrics asked about. */
export function analyseSecondary(
  metrics: readonly SecondaryMetric[],
  plan: Pick<AnalysisPlan, "method" | "alpha">,
  multiplicity: Multiplicity = "holm",
): SecondaryResult[] {
  const results = metrics.map((metric) => analyse(metric, plan));
  const raw = results.map(({ test }) => (isUnknown(test) ? test : test.p));
  const adjusted = multiplicity === "holm" ? holm(raw) : raw;
  return results.map((result, index) => ({
    ...result,
    adjustedP: adjusted[index] ?? unknown("unavailable", "no p-value"),
  }));
}
