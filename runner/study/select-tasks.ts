import { RunnerError } from "../base/errors.ts";
import type { Dataset, Task } from "../task/model.ts";

/** The named tasks of a dataset in its order, or all of them when no name is given. @throws RunnerError `TASK_UNKNOWN`. */
export function selectTasks(dataset: Dataset, names: readonly string[]): readonly Task[] {
  if (names.length === 0) return dataset.tasks;
  const known = new Set(dataset.tasks.map((task) => task.id));
  const unknown = names.filter((name) => !known.has(name));
  if (unknown.length > 0) {
    throw new RunnerError("usage", "TASK_UNKNOWN", `${dataset.dir} has no task ${unknown.join(", ")}`, {
      hint: `It has ${[...known].join(", ")}.`,
    });
  }
  return dataset.tasks.filter((task) => names.includes(task.id));
}
