import { RunnerError } from "../base/errors.ts";
import type { EngineFacts } from "../docker/engine.ts";
import { type TaskDigests, taskDigests } from "../task/digests.ts";
import type { Task } from "../task/model.ts";
import { refusals } from "../task/refusals.ts";
import type { Cause } from "../trial/record.ts";
import { hostRefusals } from "./host-refusals.ts";
import { findOracleEvidence, type OracleEvidence } from "./oracle-evidence.ts";
import type { TaskBinding } from "./plan.ts";
import { requireSameTasks } from "./plan-changes.ts";
import type { PlanRequest } from "./plan-request.ts";
import { type OwnImages, oracleParts, type PlannedImages, planImages, stateDirOf } from "./task-images.ts";

/** A task of a plan with what its execution needs in memory. */
export interface PlannedTask {
  readonly task: Task;
  readonly digests: TaskDigests;
  readonly prepared: PlannedImages;
  /** Why its images could not be made; its trials are then sealed as `infra_error` in both conditions. */
  readonly unavailable: Cause | null;
  readonly oracle: OracleEvidence;
}

/** The part of a task's binding that comes from its files and images. */
type TaskInputs = Pick<TaskBinding, "id" | "digests" | "environmentImage" | "verifierImages" | "replaced">;

/** What a plan binds of a task's files and images. */
export function taskInputs(id: string, digests: TaskDigests, prepared: PlannedImages): TaskInputs {
  return {
    id,
    digests: { ...digests },
    environmentImage: prepared.environment.inputDigest,
    verifierImages: prepared.verifiers.map((image) => image?.inputDigest ?? null),
    replaced: prepared.replaced.map(({ from, to }) => ({ from, to })),
  };
}

/**
 * Digests the tasks, finds or builds their images and demands current oracle evidence for each. An image that cannot be made is kept as
 * the task's cause, unless no task's can.
 * @throws RunnerError `ORACLE_EVIDENCE` naming every task without, or the build's failure.
 */
export async function planTasks(
  request: PlanRequest,
  own: OwnImages,
  selected: readonly Task[],
): Promise<Map<string, PlannedTask>> {
  const { images } = request;
  const { study } = request.study;
  const tasks = new Map<string, PlannedTask>();
  const found: TaskInputs[] = [];
  const unproven: string[] = [];
  for (const task of selected) {
    const digests = await taskDigests(task);
    const { prepared, unavailable } = await imagesOf(request, own, task);
    found.push(taskInputs(task.id, digests, prepared));
    const standing = await findOracleEvidence(stateDirOf(images.projectRoot), task.id, oracleParts(digests, prepared));
    if (standing.state === "current")
      tasks.set(task.id, { task, digests, prepared, unavailable, oracle: standing.evidence });
    else if (standing.state === "stale") unproven.push(`${task.id}: stale, because of ${standing.changed.join(", ")}`);
    else unproven.push(`${task.id}: missing`);
  }
  if (unproven.length > 0) {
    if (request.planned !== undefined) requireSameTasks(request.planned, found);
    throw new RunnerError(
      "refused",
      "ORACLE_EVIDENCE",
      `tasks without current oracle evidence: ${unproven.join("; ")}`,
      {
        hint: `Run \`runner oracle --dataset ${study.dataset} --tasks ${unproven.map((line) => line.split(":", 1)[0]).join(" ")}\`.`,
      },
    );
  }
  const [failed] = [...tasks.values()].flatMap(({ unavailable }) => unavailable ?? []);
  if (failed !== undefined && [...tasks.values()].every(({ unavailable }) => unavailable !== null)) {
    throw new RunnerError("environment", failed.code, `no task's image could be made: ${failed.detail}`);
  }
  return tasks;
}

/** Failures of one build that say nothing about the others'. An index that cannot be reached, say, stops everything instead. */
const OF_ONE_BUILD = ["BUILD_FAILED", "BUILD_TIMEOUT", "BUILD_LOST", "DISK_FULL", "NO_SPACE"];

async function imagesOf(
  { engine, images, report, signal, build }: PlanRequest,
  own: OwnImages,
  task: Task,
): Promise<Pick<PlannedTask, "prepared" | "unavailable">> {
  try {
    return { prepared: await planImages(images, own, engine, task, report, signal, build), unavailable: null };
  } catch (thrown) {
    if (!(thrown instanceof RunnerError) || !OF_ONE_BUILD.includes(thrown.code)) throw thrown;
    report(`${task.id}: its image could not be made, in either condition: ${thrown.message}`);
    const prepared = await planImages(images, own, engine, task, report, signal, false);
    return { prepared, unavailable: { code: thrown.code, detail: thrown.message } };
  }
}

/** Refuses tasks that cannot be executed on this host. @throws RunnerError `TASK_REFUSED` naming every need. */
export function refuseTasks(tasks: readonly Task[], allowPublicNetwork: boolean, facts: EngineFacts): void {
  const found = tasks.flatMap((task) =>
    [
      ...refusals(task, "execute", { allowPublicNetwork }).map(({ subject, message }) => `${subject}: ${message}`),
      ...hostRefusals(task, facts),
    ].map((need) => `${task.id}: ${need}`),
  );
  if (found.length > 0) {
    throw new RunnerError("refused", "TASK_REFUSED", `tasks that cannot be executed here: ${found.join("; ")}`, {
      hint: "Take them out of the study, or run them where their needs can be met.",
    });
  }
}
