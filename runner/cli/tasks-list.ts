import { resolve } from "node:path";
import { digestJson } from "../base/digest.ts";
import { taskDigests } from "../task/digests.ts";
import { loadDataset } from "../task/load-dataset.ts";
import { refusals } from "../task/refusals.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.tasksList> = async ({ dataset, json }, _positionals, io) => {
  const loaded = await loadDataset(resolve(io.cwd, dataset ?? `${io.projectRoot}/tasks`));
  const tasks = await Promise.all(
    loaded.tasks.map(async (task) => ({
      id: task.id,
      name: task.name,
      description: task.description,
      steps: task.steps.length,
      verifier: [...new Set(task.steps.map((step) => step.verifier.mode))].join(", "),
      traps: task.traps.length,
      digests: await taskDigests(task),
      refusals: refusals(task, "execute"),
      warnings: task.warnings,
    })),
  );
  for (const { id, warnings } of tasks) {
    for (const { file, line, message } of warnings)
      io.say(`${id}: ${file}${line === null ? "" : `:${line}`}: ${message}`);
  }
  if (json) {
    const digest = digestJson(tasks.map(({ id, digests }) => ({ id, digest: digests.task })));
    io.out(`${JSON.stringify({ dataset: loaded.dir, digest, tasks })}\n`);
  } else {
    for (const { id, digests, verifier, traps, description } of tasks) {
      io.out(`${id.padEnd(28)} ${digests.task.slice(7, 19)}  ${verifier}, ${traps} traps  ${description}\n`);
    }
  }
  return 0;
};
