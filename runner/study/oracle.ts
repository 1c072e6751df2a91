import { join } from "node:path";
import pLimit from "p-limit";
import { allOrAbort } from "../base/all-or-abort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import { thisOwner } from "../docker/ownership.ts";
import { writeReport } from "../evidence/anchor.ts";
import { BUNDLE, createBundle } from "../evidence/bundle.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { type TaskDigests, taskDigests } from "../task/digests.ts";
import type { Task, Trap } from "../task/model.ts";
import { refusals } from "../task/refusals.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { AgentPlan, TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";
import { hostRefusals } from "./host-refusals.ts";
import { keepOracleEvidence, type OracleParts, oracleKey } from "./oracle-evidence.ts";
import { judgeTask, type OracleRun } from "./oracle-judgement.ts";
import { registerRun } from "./run-registry.ts";
import { runSealed } from "./sealed-trial.ts";
import {
  type ImageSettings,
  oracleParts,
  type PreparedTask,
  prepareTask,
  readOwnImages,
  stateDirOf,
} from "./task-images.ts";
import { verifierWords } from "./verifier-words.ts";
import { measureWork, type WorkTime } from "./work-time.ts";

export interface OracleOptions {
  readonly engine: Engine;
  /** The tasks to validate. */
  readonly tasks: readonly Task[];
  readonly images: ImageSettings;
  /** Runs at once. */
  readonly concurrency: number;
  /** Runs of each task's oracle; every one must reach 1. */
  readonly repeat: number;
  readonly out: string;
  /** Values of the host variables that `${VAR}` in a task may resolve. */
  readonly hostVariables: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** What was found out about one task. */
export interface TaskValidation {
  readonly task: string;
  /** `valid`: solvable and discriminating. `invalid`: a run says otherwise. `refused`: it needs what this host cannot give. `failed`: its images could not be made. */
  readonly state: "valid" | "invalid" | "refused" | "failed";
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
  readonly digests: TaskDigests;
  /** What a proof of this task is keyed by; null when its images were not made. */
  readonly key: Digest | null;
  readonly runs: readonly {
    readonly role: string;
    readonly outcome: TrialRecord["outcome"];
    readonly reward: number | null;
    readonly rewards: Readonly<Record<string, number>> | null;
    readonly failedCheck: string | null;
    readonly cause: TrialRecord["cause"];
    readonly seconds: number;
    readonly record: ObjectRef;
  }[];
  /** In which the task's digests, images or runs were under way; waiting for other tasks does not count. */
  readonly seconds: number;
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
  const own = await readOwnImages(options.images, engine);
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

function trialSpec(
  options: OracleOptions,
  task: Task,
  digests: TaskDigests,
  prepared: PreparedTask,
  agent: AgentPlan,
  number: number,
): TrialSpec {
  return {
    number,
    attempt: 1,
    task,
    taskDigest: digests.task,
    condition: "none",
    repetition: 1,
    agent,
    environment: prepared.environment,
    verifiers: prepared.verifiers,
    model: null,
    mcp: null,
    budgets: null,
    hostVariables: options.hostVariables,
    unavailable: null,
    // The same artifacts graded twice show whether the verifier repeats itself.
    gradings: agent.kind === "oracle" ? 2 : 1,
    record: null,
  };
}

interface TaskWork {
  readonly task: Task;
  readonly prepare: (time: WorkTime) => Promise<PreparedTask>;
  readonly run: (
    prepared: PreparedTask,
    digests: TaskDigests,
    agent: AgentPlan,
    time: WorkTime,
  ) => Promise<{ readonly record: TrialRecord; readonly ref: ObjectRef }>;
}

/** A validation, and what it would be a proof of. */
interface Validated {
  readonly validation: TaskValidation;
  readonly parts: OracleParts | null;
}

async function validateTask(options: OracleOptions, world: TrialWorld, work: TaskWork): Promise<Validated> {
  const { task } = work;
  const time = measureWork(world.clock);
  const digests = await time.during(() => taskDigests(task));
  const warnings =
    task.traps.length === 0 ? [`${task.id} has no traps: nothing shows that a wrong submission fails`] : [];
  const base = { task: task.id, warnings, digests, key: null, runs: [] };
  const problems = [
    ...refusals(task, "oracle").map(({ subject, message }) => `${subject}: ${message}`),
    ...hostRefusals(task, options.engine.facts),
  ];
  if (problems.length > 0) {
    options.report(`${task.id}: refused: ${problems.join("; ")}`);
    return { validation: { ...base, state: "refused", problems, seconds: time.seconds() }, parts: null };
  }
  let prepared: PreparedTask;
  try {
    prepared = await work.prepare(time);
  } catch (thrown) {
    options.signal.throwIfAborted();
    // A build says much, and its lines belong to this task.
    options.report(`${task.id}: failed: ${messageOf(thrown).replaceAll("\n", "\n    ")}`);
    const hint = thrown instanceof RunnerError && thrown.hint !== undefined ? ` ${thrown.hint}` : "";
    const problem = `infra_error: ${messageOf(thrown)}${hint}`;
    return { validation: { ...base, state: "failed", problems: [problem], seconds: time.seconds() }, parts: null };
  }
  const players: { role: OracleRun["role"]; trap: Trap | null; agent: AgentPlan }[] = [
    ...Array.from({ length: options.repeat }, () => ({
      role: "oracle" as const,
      trap: null,
      agent: { kind: "oracle" as const },
    })),
    { role: "nop", trap: null, agent: { kind: "nop" } },
    ...task.traps.map((trap) => ({ role: "trap" as const, trap, agent: { kind: "trap" as const, trap } })),
  ];
  const sealed = await allOrAbort(options.signal, () =>
    players.map(async (player) => {
      const done = await work.run(prepared, digests, player.agent, time);
      return { ...player, ...done, words: await verifierWords(world.store, done.record) };
    }),
  );
  const found = judgeTask(sealed, task.layout === "split");
  const parts = oracleParts(digests, prepared);
  const validation: TaskValidation = {
    ...base,
    state: found.length === 0 ? "valid" : "invalid",
    problems: found,
    key: oracleKey(parts),
    runs: sealed.map(({ role, trap, record, ref }) => ({
      role: trap === null ? role : `trap ${trap.name}`,
      outcome: record.outcome,
      reward: record.reward,
      rewards: record.rewards,
      failedCheck: record.steps.at(-1)?.failedCheck ?? null,
      cause: record.cause,
      seconds: (record.elapsed.total ?? 0) / 1e6,
      record: ref,
    })),
    seconds: time.seconds(),
  };
  const summary =
    found.length === 0 ? `valid: oracle 1, nop 0, ${task.traps.length} traps 0` : `invalid: ${found.join("; ")}`;
  options.report(`${task.id}: ${summary} (${validation.seconds.toFixed(1)} s)`);
  for (const warning of warnings) options.report(`  warning: ${warning}`);
  return { validation, parts };
}
