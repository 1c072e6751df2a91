import type { Known } from "../base/unknown.ts";
import { isUnknown } from "../base/unknown.ts";
import type { TaskScores } from "./differences.ts";

/** One planned pair: the same task and repetition under both conditions. A side without a score is unknown, never 0. */
export interface PlannedPair {
  readonly task: string;
  readonly repetition: number;
  readonly control: Known<number>;
  readonly treatment: Known<number>;
}

/** How a task came out over its complete pairs. */
export type TaskOutcome =
  /** The treatment was better in some pairs and worse in none. */
  | "won"
  /** The treatment was worse in some pairs and better in none. */
  | "lost"
  /** Better in some pairs, worse in others. */
  | "both-ways"
  | "tied"
  /** No complete pair. */
  | "dropped";

/** One line of the per-task table. */
export interface TaskRow {
  readonly task: string;
  readonly plannedPairs: number;
  readonly completePairs: number;
  /** Mean scores over complete pairs, and treatment minus control; null without a complete pair. */
  readonly control: number | null;
  readonly treatment: number | null;
  readonly difference: number | null;
  readonly pairsBetter: number;
  readonly pairsWorse: number;
  readonly outcome: TaskOutcome;
}

/** All planned pairs of a task, tasks in order of their ids, repetitions in order. */
export interface TaskPairs {
  readonly task: string;
  readonly pairs: readonly PlannedPair[];
}

/**
 * Groups planned pairs by task.
 * @throws RangeError when a pair occurs twice, or a known score is not a finite number.
 */
export function groupPairs(pairs: readonly PlannedPair[]): TaskPairs[] {
  const tasks = new Map<string, Map<number, PlannedPair>>();
  for (const pair of pairs) {
    for (const side of ["control", "treatment"] as const) {
      const score = pair[side];
      if (!isUnknown(score) && !Number.isFinite(score)) {
        throw new RangeError(`Task ${pair.task}, repetition ${pair.repetition}: the ${side} score is ${score}`);
      }
    }
    const known = tasks.get(pair.task) ?? new Map<number, PlannedPair>();
    if (known.has(pair.repetition)) {
      throw new RangeError(`Task ${pair.task}, repetition ${pair.repetition} is there twice: a pair counts once`);
    }
    tasks.set(pair.task, known.set(pair.repetition, pair));
  }
  return [...tasks]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([task, known]) => ({ task, pairs: [...known.values()].sort((a, b) => a.repetition - b.repetition) }));
}

/** The scores of complete pairs; tasks without one are left out. A pair with one unscored side is dropped whole. */
export function completeScores(tasks: readonly TaskPairs[]): TaskScores[] {
  return tasks.flatMap(({ task, pairs }) => {
    const control: number[] = [];
    const treatment: number[] = [];
    for (const pair of pairs) {
      if (isUnknown(pair.control) || isUnknown(pair.treatment)) continue;
      control.push(pair.control);
      treatment.push(pair.treatment);
    }
    return control.length === 0 ? [] : [{ task, control, treatment }];
  });
}

function outcomeOf(better: number, worse: number): TaskOutcome {
  if (better > 0) return worse > 0 ? "both-ways" : "won";
  return worse > 0 ? "lost" : "tied";
}

/** The mean of numbers, at least one. */
export function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The per-task table, one row a planned task, in order of the ids. */
export function taskTable(tasks: readonly TaskPairs[]): TaskRow[] {
  return tasks.map(({ task, pairs }) => {
    const [scores] = completeScores([{ task, pairs }]);
    if (scores === undefined) {
      const none = { control: null, treatment: null, difference: null, pairsBetter: 0, pairsWorse: 0 };
      return { task, plannedPairs: pairs.length, completePairs: 0, ...none, outcome: "dropped" };
    }
    const steps = scores.treatment.map((score, index) => score - (scores.control[index] ?? score));
    const pairsBetter = steps.filter((step) => step > 0).length;
    const pairsWorse = steps.filter((step) => step < 0).length;
    return {
      task,
      plannedPairs: pairs.length,
      completePairs: steps.length,
      control: meanOf(scores.control),
      treatment: meanOf(scores.treatment),
      difference: meanOf(steps),
      pairsBetter,
      pairsWorse,
      outcome: outcomeOf(pairsBetter, pairsWorse),
    };
  });
}
