import { join } from "node:path";
import pLimit from "p-limit";
import { allOrAbort } from "../base/all-or-abort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { type Digest, digestFile } from "../base/digest.ts";
import { thisOwner } from "../docker/ownership.ts";
import { writeReport } from "../evidence/anchor.ts";
import { BUNDLE, createBundle } from "../evidence/bundle.ts";
import type { Task } from "../task/model.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import type { TrialWorld } from "../trial/world.ts";
import { keepOracleEvidence, type OracleParts, oracleKey } from "./oracle-evidence.ts";
import { registerRun } from "./run-registry.ts";
import { runSealed } from "./sealed-trial.ts";
import { type ImageSettings, prepareTask, readOwnImages, stateDirOf } from "./task-images.ts";
import { type TaskValidation, trialSpec, type ValidationSettings, validateTask } from "./validate-task.ts";

export interface OracleOptions extends ValidationSettings {
  /** The tasks to validate. */
  readonly tasks: readonly Task[];
  readonly images: ImageSettings;
  /** Runs at once. */
  readonly concurrency: number;
  readonly out: string;
  readonly clock?: Clock;
}

/** The result of a validation run. */
export interface OracleResult {
  readonly runId: string;
  readonly out: string;
  readonly report: Digest;
  readonly tasks: readonly TaskValidation[];
}

/**
 * Validates tasks in the run's own images and network modes: the oracle reaches 1, nop and every trap get 0, grading twice gives the same
 * bytes. One task's failure never stops the others. A valid task's proof is kept in the local state under the digest of what it proves.
 */
export async function validateTasks(options: OracleOptions): Promise<OracleResult> {
  const { engine, tasks, out, signal, report, clock = systemClock } = options;
  const runId = newRunId(clock);
  const startedAt = clock.wall();
  const own = await readOwnImages(options.images, engine, null);
  await using bundle = await createBundle(out);
  await using _registered = await registerRun(options.images.projectRoot, runId, [out], await thisOwner());
  await bundle.ledger.append({ type: "run-opened", runId, kind: "oracle" });
  await using shared = await openWorld({ engine, runId, images: own.ids, signal, clock });
  const world: TrialWorld = { ...shared, store: bundle.store };
  const limit = pLimit(options.concurrency);
  const building = pLimit(1);
  let next = 0;
  const validations = await allOrAbort(signal, (joint) =>
    tasks.map((task) =>
      validateTask({ ...options, signal: joint }, world, {
        task,
        prepare: (time) =>
          building(() => time.during(() => prepareTask(options.images, own, engine, task, report, joint))),
        run: (prepared, digests, agent, time) => {
          const spec = trialSpec(options, task, digests, prepared, agent, ++next);
          return limit(() => {
            joint.throwIfAborted();
            return time.during(() => runSealed(world, bundle, spec, null, joint));
          });
        },
      }),
    ),
  );
  signal.throwIfAborted();
  await bundle.ledger.append({ type: "run-closed", runId });
  const anchor = await writeReport(join(out, BUNDLE.report), {
    schemaVersion: "1",
    kind: "oracle",
    runId,
    ledger: await digestFile(join(out, BUNDLE.ledger)),
    tasks: validations.map(({ validation }) => validation),
    startedAt,
    finishedAt: clock.wall(),
  });
  for (const { validation, parts } of validations) {
    if (validation.state === "valid" && parts !== null) await keepProof(options, validation, parts, anchor, clock);
  }
  return { runId, out, report: anchor, tasks: validations.map(({ validation }) => validation) };
}

async function keepProof(
  options: OracleOptions,
  validation: TaskValidation,
  parts: OracleParts,
  report: Digest,
  clock: Clock,
): Promise<void> {
  const roles = validation.runs.map(({ role }) => role);
  await keepOracleEvidence(stateDirOf(options.images.projectRoot), {
    schemaVersion: "1",
    kind: "oracle-evidence",
    task: validation.task,
    key: oracleKey(parts),
    parts,
    report,
    oracleRuns: roles.filter((role) => role === "oracle").length,
    traps: roles.filter((role) => role.startsWith("trap ")).length,
    validatedAt: clock.wall(),
  });
}
