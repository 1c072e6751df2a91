import { allOrAbort } from "../base/all-or-abort.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { type TaskDigests, taskDigests } from "../task/digests.ts";
import type { Task, Trap } from "../task/model.ts";
import { refusals } from "../task/refusals.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { AgentPlan, TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";
import { hostRefusals } from "./host-refusals.ts";
import { type OracleParts, oracleKey } from "./oracle-evidence.ts";
import { judgeTask, type OracleRun } from "./oracle-judgement.ts";
import { oracleParts, type PreparedTask } from "./task-images.ts";
import { verifierWords } from "./verifier-words.ts";
import { measureWork, type WorkTime } from "./work-time.ts";

/** What validating a task takes from the run that it is part of. */
export interface ValidationSettings {
  readonly engine: Engine;
  /** Runs of each task's oracle; every one must reach 1. */
  readonly repeat: number;
  /** Values of the host variables that `${VAR}` in a task may resolve. */
  readonly hostVariables: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
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

/** How a task's images are made and its runs are sealed. */
export interface TaskWork {
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
export interface Validated {
  readonly validation: TaskValidation;
  readonly parts: OracleParts | null;
}

/**
 * Validates one task: its oracle as often as asked, nop, and every trap. What speaks against it is in the answer; only an interruption is
 * thrown.
 */
export async function validateTask(options: ValidationSettings, world: TrialWorld, work: TaskWork): Promise<Validated> {
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

/** The specification of one run of a validation. */
export function trialSpec(
  options: ValidationSettings,
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
