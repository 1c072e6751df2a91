import { isUnknown } from "../base/unknown.ts";
import type { PairedAnalysis } from "./analysis.ts";
import type { Decision } from "./verdict.ts";
import { counted, percent, points, sizeInPoints } from "./wording.ts";

type Measured = Omit<PairedAnalysis, keyof Decision | "statements">;

/** Means from which scores have next to no room: at the top for the control, at the bottom for both conditions. */
export const CEILING = 0.95;

function fewTasks({ coverage, tasksNeeded, plan }: Measured): string[] {
  const tasks = coverage.completeTasks;
  if (tasks === 0) return ["No pair is complete: nothing was compared."];
  if (tasks >= tasksNeeded) return [];
  return [
    `Too few tasks to decide: with ${counted(tasks, "task")} the smallest two-sided exact p is ${2 ** (1 - tasks)}, so no decision at ${percent(plan.alpha)} exists, however many repetitions are run. The table, the mean difference and the interval are shown without p and without a verdict.`,
  ];
}

function fewDifferences({ coverage, tasksThatDiffer, tasksNeeded, plan, interval }: Measured): string[] {
  const tasks = coverage.completeTasks;
  if (tasks === 0) return [];
  if (tasksThatDiffer > 0) {
    if (tasksThatDiffer >= tasksNeeded || tasks < tasksNeeded) return [];
    return [
      `${tasksThatDiffer} of ${tasks} tasks differ; at least ${tasksNeeded} are needed for a ${percent(plan.alpha)} decision, because tasks without a difference carry no sign.`,
    ];
  }
  // With confidence 1 - alpha / 2, a share of differing tasks of at least this would have shown in one of the tasks.
  const share = percent(1 - (plan.alpha / 2) ** (1 / tasks));
  const hidden = `With ${percent(1 - plan.alpha / 2)} confidence fewer than ${share} of such tasks would differ.`;
  if (isUnknown(interval)) return [`No difference seen. ${hidden}`];
  const effect = Math.max(Math.abs(interval.low), Math.abs(interval.high));
  return [`No difference seen; effects up to ±${sizeInPoints(effect)} points are not ruled out. ${hidden}`];
}

function edges({ control, treatment }: Measured): string[] {
  if (isUnknown(control) || isUnknown(treatment)) return [];
  const limit =
    "With so little room few tasks can differ: the interval covers more than its level says, and more repetitions of these tasks do not mend that.";
  if (control >= CEILING) {
    return [
      `Ceiling: the control already scores ${percent(control)}, so the treatment could gain ${sizeInPoints(1 - control)} points at most. ${limit}`,
    ];
  }
  if (control <= 1 - CEILING && treatment <= 1 - CEILING) {
    return [`Floor: the control scores ${percent(control)} and the treatment ${percent(treatment)}. ${limit}`];
  }
  return [];
}

function losses({ coverage, worstCase }: Measured): string[] {
  const lost = coverage.plannedPairs - coverage.completePairs;
  if (lost === 0 || isUnknown(worstCase)) return [];
  const { low, high } = worstCase.difference;
  return [
    `${lost} of ${coverage.plannedPairs} pairs were dropped. Had every unscored trial gone against, or in favour of, the treatment, the difference would be ${points(low)} or ${points(high)} points.`,
  ];
}

function assumption({ plan, coverage, tasksNeeded }: Measured): string[] {
  const statements: string[] = [];
  if (plan.alpha !== 0.05) statements.push(`The method was simulated for alpha 0.05, not for ${plan.alpha}.`);
  if (plan.method === "ft15-and-sign-flip" && coverage.completeTasks >= tasksNeeded) {
    statements.push("Assumed: no rare, large opposite effects outside the sampled tasks.");
  }
  return statements;
}

/** What the data at hand cannot show, in whole sentences for people. */
export function dataStatements(measured: Measured): string[] {
  return [
    ...fewTasks(measured),
    ...fewDifferences(measured),
    ...edges(measured),
    ...losses(measured),
    ...assumption(measured),
  ];
}
