import type { Known } from "../base/unknown.ts";
import { isUnknown } from "../base/unknown.ts";
import type { TaskScores } from "./differences.ts";
import { differenceMoments, exactDifferences } from "./differences.ts";
import type { Interval } from "./floored-t.ts";
import { countUnknown } from "./known-summary.ts";
import { methodInterval } from "./method-interval.ts";
import type { TaskPairs } from "./pairs.ts";
import type { AnalysisPlan } from "./plan.ts";

/** How much of the plan entered the comparison, and what was lost on which side. */
export interface Coverage {
  readonly plannedPairs: number;
  readonly completePairs: number;
  /** Complete pairs per planned pair. */
  readonly coverage: number;
  readonly plannedTasks: number;
  readonly completeTasks: number;
  /** Tasks without a complete pair. */
  readonly droppedTasks: readonly string[];
  readonly unscored: { readonly control: number; readonly treatment: number };
  readonly unscoredByReason: {
    readonly control: Readonly<Record<string, number>>;
    readonly treatment: Readonly<Record<string, number>>;
  };
  /** Unscored treatment trials minus unscored control trials, per planned pair, without sign. */
  readonly dropImbalance: number;
}

/** Counts complete pairs and losses by side. */
export function measureCoverage(tasks: readonly TaskPairs[]): Coverage {
  const pairs = tasks.flatMap((task) => task.pairs);
  const complete = (pair: { control: Known<number>; treatment: Known<number> }) =>
    !isUnknown(pair.control) && !isUnknown(pair.treatment);
  const droppedTasks = tasks.filter((task) => !task.pairs.some(complete)).map(({ task }) => task);
  const completePairs = pairs.filter(complete).length;
  const control = pairs.filter((pair) => isUnknown(pair.control)).length;
  const treatment = pairs.filter((pair) => isUnknown(pair.treatment)).length;
  return {
    plannedPairs: pairs.length,
    completePairs,
    coverage: pairs.length === 0 ? 0 : completePairs / pairs.length,
    plannedTasks: tasks.length,
    completeTasks: tasks.length - droppedTasks.length,
    droppedTasks,
    unscored: { control, treatment },
    unscoredByReason: {
      control: countUnknown(pairs.map((pair) => pair.control)),
      treatment: countUnknown(pairs.map((pair) => pair.treatment)),
    },
    dropImbalance: pairs.length === 0 ? 0 : Math.abs(treatment - control) / pairs.length,
  };
}

/** What the result could be if every unscored trial had gone one way. */
export interface WorstCase {
  /** Mean difference over all planned tasks with every lost trial against, and in favour of, the treatment. */
  readonly difference: Interval;
  /** From the lower limit of the first to the upper limit of the second, each by the plan's method; null below two tasks. */
  readonly interval: Interval | null;
}

/** Scores with every unknown score replaced, on planned tasks and pairs alike. */
function filled(tasks: readonly TaskPairs[], control: number, treatment: number): TaskScores[] {
  return tasks.map(({ task, pairs }) => ({
    task,
    control: pairs.map((pair) => (isUnknown(pair.control) ? control : pair.control)),
    treatment: pairs.map((pair) => (isUnknown(pair.treatment) ? treatment : pair.treatment)),
  }));
}

/**
 * Worst-case bounds for scores in [0, 1] (Manski bounds): unscored trials count 0 on one side and 1 on the other, scored ones stay as they
 * are, so that nothing is assumed about why trials were lost.
 */
export function worstCase(tasks: readonly TaskPairs[], plan: Pick<AnalysisPlan, "method" | "alpha">): WorstCase {
  const against = exactDifferences(filled(tasks, 1, 0));
  const favour = exactDifferences(filled(tasks, 0, 1));
  const difference = { low: differenceMoments(against).mean, high: differenceMoments(favour).mean };
  if (tasks.length < 2) return { difference, interval: null };
  return { difference, interval: { low: methodInterval(plan, against).low, high: methodInterval(plan, favour).high } };
}
