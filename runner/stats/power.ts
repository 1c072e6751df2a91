import type { Known } from "../base/unknown.ts";
import { isUnknown, unknown } from "../base/unknown.ts";
import type { Design, Rule } from "./detectable.ts";
import { detectable, POWER } from "./detectable.ts";
import type { DifferenceMoments, TaskScores } from "./differences.ts";
import { TOLERANCE } from "./floored-t.ts";
import { meanOf } from "./pairs.ts";
import { tasksNeeded } from "./sign-flip.ts";
import { studentQuantile } from "./student-t.ts";
import { counted } from "./wording.ts";

const NOTHING = "no pair is complete";

/** Search limits: beyond these a number of tasks or repetitions is no plan. */
const MAX_TASKS = 100_000;
const MAX_REPETITIONS = 10_000;

function designOf({ count, squares, offModal, step }: DifferenceMoments): Design {
  return { tasks: count, deviation: Math.sqrt(squares / (count - 1)), offModal, step };
}

/** The smallest mean difference that the design would show with probability 0.8. */
export interface Detectable {
  readonly difference: number;
  /**
   * `observed-spread`: at the spread of the task differences; `whole-flips`: so few tasks differ that their spread says nothing, so the
   * effect is taken to flip whole tasks from failure to success.
   */
  readonly basis: "observed-spread" | "whole-flips";
}

/** P(at least `least` of `count` tasks differ) when each does with probability `share`. */
function atLeast(least: number, count: number, share: number): number {
  if (share >= 1) return count >= least ? 1 : 0;
  let term = (1 - share) ** count;
  let below = 0;
  for (let differing = 0; differing < least; differing += 1) {
    below += term;
    term *= ((count - differing) / (differing + 1)) * (share / (1 - share));
  }
  return 1 - below;
}

/** The share of tasks that must flip so that enough of them do with probability 0.8, and that FT15 sees it: c^2 / (n + c^2). */
function wholeFlips(count: number, alpha: number): number {
  let low = 0;
  let high = 1;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (atLeast(tasksNeeded(alpha), count, middle) < POWER) low = middle;
    else high = middle;
  }
  const c = studentQuantile(1 - alpha / 2, count - 1) + studentQuantile(POWER, count - 1);
  return Math.max(high, c ** 2 / (count + c ** 2));
}

/** The minimum detectable effect of the design as run. */
export function minimumDetectable(moments: DifferenceMoments, rule: Rule): Known<Detectable> {
  const { alpha } = rule;
  const needed = tasksNeeded(alpha);
  const { count, nonZero } = moments;
  if (count < needed) {
    return unknown(
      "unavailable",
      `no effect could have been decided with ${counted(count, "task")}: at least ${needed} are needed`,
    );
  }
  if (nonZero < needed) return { difference: wholeFlips(count, alpha), basis: "whole-flips" };
  const difference = detectable(designOf(moments), rule);
  if (difference > 1) return unknown("unavailable", "no possible effect would be decided at the observed spread");
  return { difference, basis: "observed-spread" };
}

/** What would decide, if the mean difference and its spread stayed as observed. Totals, not additions. */
export interface ToDecide {
  readonly tasks: Known<number>;
  /** Pairs a task, at the same tasks. */
  readonly repetitions: Known<number>;
}

/** The variances of single trials around their task's mean, pooled over tasks with at least two repetitions. */
function trialVariance(tasks: readonly TaskScores[], side: "control" | "treatment"): Known<number> {
  const variances = tasks.flatMap((task) => {
    const scores = task[side];
    if (scores.length < 2) return [];
    const mean = meanOf(scores);
    return [scores.reduce((sum, score) => sum + (score - mean) ** 2, 0) / (scores.length - 1)];
  });
  return variances.length === 0 ? unknown("unavailable", "no task has two repetitions") : meanOf(variances);
}

/** The first number from `start` to `end` for which `decides` holds; `decides` stays true once it is. */
function firstThat(start: number, end: number, decides: (value: number) => boolean): number | undefined {
  if (!decides(end)) return undefined;
  let low = start;
  let high = end;
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (decides(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function tasksToDecide(moments: DifferenceMoments, rule: Rule): Known<number> {
  const { count, mean, nonZero } = moments;
  const needed = tasksNeeded(rule.alpha);
  const design = designOf(moments);
  const decides = (tasks: number) =>
    tasks >= needed &&
    atLeast(needed, tasks, nonZero / count) >= POWER &&
    detectable({ ...design, tasks, offModal: Math.floor((design.offModal * tasks) / count) }, rule) <= Math.abs(mean);
  return (
    firstThat(count, MAX_TASKS, decides) ??
    unknown("unavailable", `more than ${MAX_TASKS} tasks at the observed difference`)
  );
}

function repetitionsToDecide(tasks: readonly TaskScores[], moments: DifferenceMoments, rule: Rule): Known<number> {
  const needed = tasksNeeded(rule.alpha);
  if (moments.count < needed)
    return unknown("unavailable", `repetitions cannot make up for fewer than ${needed} tasks`);
  const control = trialVariance(tasks, "control");
  const treatment = trialVariance(tasks, "treatment");
  if (isUnknown(control) || isUnknown(treatment)) {
    return unknown("unavailable", "one repetition does not show how much of the spread repetitions would remove");
  }
  const design = designOf(moments);
  const byTrials = meanOf(tasks.map((task) => control / task.control.length + treatment / task.treatment.length));
  const between = Math.max(0, design.deviation ** 2 - byTrials);
  const most = Math.max(...tasks.map((task) => Math.max(task.control.length, task.treatment.length)));
  const decides = (repetitions: number) => {
    const deviation = Math.sqrt(between + (control + treatment) / repetitions);
    return (
      detectable({ ...design, deviation, step: (design.step * most) / repetitions }, rule) <= Math.abs(moments.mean)
    );
  };
  return (
    firstThat(most, MAX_REPETITIONS, decides) ??
    unknown(
      "unavailable",
      "no number of repetitions: the tasks differ too much from each other, so more tasks are needed",
    )
  );
}

/**
 * How many tasks (at the same repetitions) or repetitions (at the same tasks) would give a verdict with probability 0.8, if the mean
 * difference, its spread and the share of differing tasks stayed as observed. An estimate from the same data, not a promise.
 */
export function toDecide(tasks: readonly TaskScores[], moments: DifferenceMoments, rule: Rule): ToDecide {
  if (moments.count < 2) {
    const none = unknown("unavailable", moments.count === 0 ? NOTHING : "one task shows no spread between tasks");
    return { tasks: none, repetitions: none };
  }
  if (Math.abs(moments.mean) <= TOLERANCE) {
    const none = unknown("unavailable", "the observed difference is 0, so no number would decide");
    return { tasks: none, repetitions: none };
  }
  return { tasks: tasksToDecide(moments, rule), repetitions: repetitionsToDecide(tasks, moments, rule) };
}
