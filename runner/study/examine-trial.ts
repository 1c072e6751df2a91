import { canonicalBytes } from "../base/canonical-json.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { type Surface, surfaceDigest } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { collectObjectRefs, type ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { type TrialRecord, trialRecordSchema } from "../trial/record.ts";
import { isGraded } from "../trial/rederive.ts";
import { checkTrial } from "./check-trial.ts";
import type { Plan } from "./plan.ts";
import { rowContext, rowLines } from "./seal-run.ts";
import type { BoundLimits, TrialExpectation } from "./trial-expectation.ts";
import { MAX_RECORD_BYTES } from "./unsealed.ts";

/** What a record says of its trial, without what it names. */
export interface TrialFacts
  extends Readonly<
    Pick<
      TrialRecord,
      "number" | "attempt" | "task" | "condition" | "repetition" | "outcome" | "reward" | "observations"
    >
  > {
  readonly causeDetail: string | null;
  /** The last step's first failed check that there is. */
  readonly failedCheck: string | null;
  /** A verifier graded every step that was run, whatever the outcome. */
  readonly graded: boolean;
  readonly images: Readonly<Record<string, Digest>>;
}

/** A record that was read and, where it is an attempt of a run's trial, held against the plan. */
export interface ExaminedTrial {
  /** Why the record cannot be used; null when it can. */
  readonly problem: string | null;
  readonly facts: TrialFacts | null;
  /** Everything that the record names. */
  readonly refs: readonly ObjectRef[];
  /** What differs from the plan, or does not come out again. */
  readonly reasons: readonly string[];
  /** The derived row as its canonical line; null when it could not be derived, or was not asked for. */
  readonly row: string | null;
}

/** One record to read; `number` and `attempt` are the report's where the trial is to be held against the plan. */
export interface TrialToExamine {
  readonly ref: ObjectRef;
  readonly derive: { readonly number: number; readonly attempt: number } | null;
}

/** What the trials of a run are held against. */
export interface ExaminedRun {
  readonly plan: Plan;
  readonly limits: BoundLimits;
  readonly locked: Surface;
}

/** Reads and checks one trial after the other. What speaks against one is in its answer; nothing is thrown. */
export type Examine = (trial: TrialToExamine) => Promise<ExaminedTrial>;

/** Prepares what all trials of a bundle share. `run` is null where only records are to be read. */
export function openExaminer(store: Pick<ObjectStore, "readAll" | "path">, run: ExaminedRun | null): Examine {
  const expectationOf = run === null ? () => null : expectations(run);
  return async ({ ref, derive }) => {
    let record: TrialRecord;
    try {
      record = await readRecord(store, ref);
    } catch (thrown) {
      return { problem: messageOf(thrown), facts: null, refs: [], reasons: [], row: null };
    }
    const read = { problem: null, facts: factsOf(record), refs: collectObjectRefs(record), reasons: [], row: null };
    const expected = derive === null ? null : expectationOf(derive.number, derive.attempt, record.task);
    if (expected === null) return read;
    try {
      const { reasons, row } = await checkTrial(store, record, expected);
      return { ...read, reasons, row: rowLines([row]) };
    } catch (thrown) {
      return { ...read, reasons: [messageOf(thrown)] };
    }
  };
}

function expectations({ plan, locked, limits }: ExaminedRun) {
  const planned = new Map(plan.trials.map((trial) => [trial.number, trial]));
  const bindings = new Map(plan.tasks.map((task) => [task.id, task]));
  const surface = surfaceDigest({ ...locked, catalog: null });
  const surfaces = new Map<Digest, Digest>();
  return (number: number, attempt: number, task: string): TrialExpectation | null => {
    const trial = planned.get(number);
    const binding = bindings.get(trial?.task ?? "");
    if (trial === undefined || binding === undefined) return null;
    const context = rowContext(plan, locked.tools, task);
    return { plan, planned: trial, binding, attempt, context, limits, surface, surfaces };
  };
}

async function readRecord(store: Pick<ObjectStore, "readAll">, ref: ObjectRef): Promise<TrialRecord> {
  const bytes = await store.readAll(ref, MAX_RECORD_BYTES);
  const record = parseInput(trialRecordSchema, parseStrictJson(bytes, { source: "the record" }), "the record");
  if (!canonicalBytes(record).equals(bytes))
    throw new RunnerError("integrity", "NOT_CANONICAL", "it is not canonical JSON");
  return record;
}

function factsOf(record: TrialRecord): TrialFacts {
  const { number, attempt, task, condition, repetition, outcome, reward, observations, cause, steps, images } = record;
  return {
    number,
    attempt,
    task,
    condition,
    repetition,
    outcome,
    reward,
    observations,
    causeDetail: cause?.detail ?? null,
    failedCheck: steps.findLast(({ failedCheck }) => failedCheck !== null)?.failedCheck ?? null,
    graded: isGraded(record),
    images,
  };
}
