import { isUnknown } from "../base/unknown.ts";
import type { PairedAnalysis } from "./analysis.ts";
import { excludesZero } from "./floored-t.ts";
import { counted, percent, points } from "./wording.ts";

/** `invalid` is given by whoever refuses the evidence; statistics alone never give it. */
export type Verdict = "better" | "worse" | "indecisive" | "invalid";

/** The verdict with every reason that led to it. */
export interface Decision {
  readonly verdict: Verdict;
  readonly reasons: readonly string[];
}

type Measured = Omit<PairedAnalysis, keyof Decision | "statements">;

/** Reasons outside the difference itself why the plan does not allow a verdict. */
function obstacles({ coverage, plan, tasksNeeded, tasksThatDiffer }: Measured): string[] {
  const reasons: string[] = [];
  if (coverage.coverage < plan.minCoverage) {
    reasons.push(
      `${coverage.completePairs} of ${coverage.plannedPairs} planned pairs are complete (${percent(coverage.coverage)}); the plan asks for ${percent(plan.minCoverage)}`,
    );
  }
  if (coverage.dropImbalance > plan.maxDropImbalance + 1e-12) {
    reasons.push(
      `${coverage.unscored.control} control and ${coverage.unscored.treatment} treatment trials of ${coverage.plannedPairs} are unscored; the shares differ by ${percent(coverage.dropImbalance)}, and the plan allows ${percent(plan.maxDropImbalance)}`,
    );
  }
  if (coverage.completeTasks < tasksNeeded) {
    reasons.push(
      `too few tasks to decide: ${counted(coverage.completeTasks, "task")} with complete pairs, and at least ${tasksNeeded} are needed`,
    );
  } else if (tasksThatDiffer < tasksNeeded) {
    reasons.push(
      `${tasksThatDiffer} of ${coverage.completeTasks} tasks differ; at least ${tasksNeeded} are needed for a ${percent(plan.alpha)} decision`,
    );
  }
  return reasons;
}

/** Better or worse only where the plan's interval excludes 0 and the exact test reaches alpha, and nothing stands in the way. */
export function decide(measured: Measured): Decision {
  const { difference, interval, test, plan } = measured;
  const reasons = obstacles(measured);
  if (reasons.length > 0) return { verdict: "indecisive", reasons };
  if (isUnknown(difference) || isUnknown(interval) || isUnknown(test)) {
    return { verdict: "indecisive", reasons: ["the difference, its interval or its test is unknown"] };
  }
  const outside = excludesZero(interval);
  const level = percent(interval.level);
  const range = `${points(interval.low)} to ${points(interval.high)} points`;
  const p = test.p < 0.0001 ? "p < 0.0001" : `p = ${test.p.toFixed(4)}`;
  if (outside && test.p <= plan.alpha) {
    return {
      verdict: difference > 0 ? "better" : "worse",
      reasons: [`the ${level} interval (${range}) excludes 0, and the exact sign-flip test gives ${p}`],
    };
  }
  if (!outside) reasons.push(`the ${level} interval (${range}) includes 0`);
  if (test.p > plan.alpha) reasons.push(`the exact sign-flip test gives ${p}, above ${plan.alpha}`);
  return { verdict: "indecisive", reasons };
}
