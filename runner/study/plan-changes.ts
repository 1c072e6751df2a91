import { RunnerError } from "../base/errors.ts";
import { type Difference, differencesOf, showValue } from "./differences.ts";
import type { Plan, TaskBinding } from "./plan.ts";

/** Longest list of differences in one error. */
const MAX_PLACES = 40;

/**
 * Refuses a plan that does not come out again from what is on this machine now.
 * @throws RunnerError `PLAN_CHANGED` naming each place with what was planned and what was found.
 */
export function requireSamePlan(planned: Plan, found: Plan): void {
  refuse(planned, differencesOf(planned, found));
}

/** The same for the files and images of tasks alone, where they keep a whole plan from being made. */
export function requireSameTasks(planned: Plan, found: readonly Pick<TaskBinding, keyof typeof TASK_INPUTS>[]): void {
  const pick = (task: Pick<TaskBinding, keyof typeof TASK_INPUTS>) =>
    Object.fromEntries(Object.keys(TASK_INPUTS).map((name) => [name, task[name as keyof typeof TASK_INPUTS]]));
  refuse(planned, differencesOf({ tasks: planned.tasks.map(pick) }, { tasks: found.map(pick) }));
}

const TASK_INPUTS = { id: true, digests: true, environmentImage: true, verifierImages: true, replaced: true } as const;

function refuse(planned: Plan, differences: readonly Difference[]): void {
  const places = differences.map(
    ({ pointer, first, second }) =>
      `${nameTask(planned, pointer)}: planned ${showValue(first)}, found ${showValue(second)}`,
  );
  if (places.length === 0) return;
  const shown = places.slice(0, MAX_PLACES);
  if (places.length > MAX_PLACES) shown.push(`and ${places.length - MAX_PLACES} more`);
  throw new RunnerError("refused", "PLAN_CHANGED", `the plan no longer holds: ${shown.join("; ")}`, {
    hint: "Put back what has changed, or make a new plan: evidence under two plans is never mixed.",
    details: { differences: places },
  });
}

/** A pointer into the list of tasks says which task it is. */
function nameTask(plan: Plan, pointer: string): string {
  const [, index] = /^\/tasks\/([0-9]+)/.exec(pointer) ?? [];
  const id = index === undefined ? undefined : plan.tasks[Number(index)]?.id;
  return id === undefined ? pointer : `${pointer} (${id})`;
}
