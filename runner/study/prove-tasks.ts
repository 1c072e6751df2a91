import type { Digest } from "../base/digest.ts";
import type { Engine } from "../docker/engine.ts";
import { taskDigests } from "../task/digests.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Task } from "../task/model.ts";
import { findDataset } from "./find-dataset.ts";
import { validateTasks } from "./oracle.ts";
import { findOracleEvidence } from "./oracle-evidence.ts";
import { selectTasks } from "./select-tasks.ts";
import type { LoadedStudy } from "./study-file.ts";
import { type ImageSettings, oracleParts, planImages, readOwnImages, stateDirOf } from "./task-images.ts";

export interface ProveOptions {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  readonly images: ImageSettings;
  readonly cwd: string;
  readonly concurrency: number;
  /** Where the evidence of a validation goes, when one is needed. */
  readonly out: string;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** Validates those tasks of a study whose oracle evidence is missing or stale, and says so of the others. */
export async function proveTasks(
  options: ProveOptions,
): Promise<{ readonly valid: boolean; readonly report: Digest | null }> {
  const { engine, study, images, report, signal } = options;
  const dataset = await loadDataset(await findDataset(study, options.cwd, images.projectRoot));
  const own = await readOwnImages(images, engine, null);
  const open: Task[] = [];
  for (const task of selectTasks(dataset, study.study.tasks)) {
    const parts = oracleParts(
      await taskDigests(task),
      await planImages(images, own, engine, task, report, signal, false),
    );
    const standing = await findOracleEvidence(stateDirOf(images.projectRoot), task.id, parts);
    if (standing.state === "current") {
      const { validatedAt, traps } = standing.evidence;
      report(
        `${task.id}: proven at ${validatedAt}: oracle 1, nop 0, ${traps} traps 0; nothing it rests on has changed`,
      );
    } else {
      report(
        `${task.id}: ${standing.state === "stale" ? `its proof is stale, because of ${standing.changed.join(", ")}` : "not proven yet"}`,
      );
      open.push(task);
    }
  }
  if (open.length === 0) return { valid: true, report: null };
  const result = await validateTasks({ ...options, tasks: open, repeat: 1, hostVariables: {} });
  return { valid: result.tasks.every(({ state }) => state === "valid"), report: result.report };
}
