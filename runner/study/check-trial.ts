import { canonicalBytes } from "../base/canonical-json.ts";
import { digestBytes } from "../base/digest.ts";
import { isUnknown } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { readTrace, type Trace } from "../trace/read-trace.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import type { TrialRecord } from "../trial/record.ts";
import { rederiveRewards } from "../trial/rederive.ts";
import { trialTrajectory } from "../trial/trajectory.ts";
import { checkEnding } from "./check-trial-ending.ts";
import { checkTrace } from "./check-trial-trace.ts";
import type { TrialExpectation } from "./trial-expectation.ts";
import { deriveRow, objectReader, type RowContext, type TrialRow } from "./trial-row.ts";

type Store = Pick<ObjectStore, "readAll" | "path">;

const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/**
 * Holds a record against its plan and derives everything again that its bytes allow: the rewards, the condition, the trace's own figures.
 * Gives the trial's row, and a sentence for everything that differs.
 */
export async function checkTrial(
  store: Store,
  record: TrialRecord,
  expected: TrialExpectation,
): Promise<{ readonly reasons: readonly string[]; readonly row: TrialRow }> {
  const reasons = [
    ...checkBindings(record, expected),
    ...(await rederiveRewards(store, record, {
      ...expected.binding.reward,
      shared: expected.binding.verifierImages.map((image) => image === null),
    })),
  ];
  const trace =
    record.gateway === null ? null : readTrace(await store.readAll(record.gateway.trace, MAX_TRACE_BYTES), "the trace");
  const readObject = objectReader(store, record);
  if (trace !== null) reasons.push(...(await checkTrace(store, record, expected, trace, readObject)));
  reasons.push(...(await checkEnding(store, record, expected, trace, readObject)));
  if (trace !== null) reasons.push(...(await checkTrajectory(store, record, expected.context, trace, readObject)));
  const row = await deriveRow(store, record, expected.context, trace === null ? null : { trace, readObject });
  return { reasons, row };
}

function checkBindings(record: TrialRecord, { plan, planned, binding, attempt }: TrialExpectation): string[] {
  const bound: [string, unknown, unknown][] = [
    ["number", record.number, planned.number],
    ["attempt", record.attempt, attempt],
    ["task", record.task, planned.task],
    ["task digest", record.taskDigest, binding.digests.task],
    ["condition", record.condition, planned.condition],
    ["repetition", record.repetition, planned.repetition],
    ["agent", record.agent.name, plan.agent.name],
    ["agent version", record.agent.version, plan.agent.version],
    ["model source", record.modelSource, plan.model?.source ?? "none"],
  ];
  return bound.flatMap(([name, here, there]) =>
    here === there ? [] : [`${name} is ${JSON.stringify(here)}, planned is ${JSON.stringify(there)}`],
  );
}

/** The trajectory that the evidence gives is the one that is kept. */
async function checkTrajectory(
  store: Store,
  record: TrialRecord,
  { agent, server, serverTools: tools }: RowContext,
  trace: Trace,
  readObject: ReadObject,
): Promise<string[]> {
  const { trajectory: kept } = record;
  if (kept === undefined) return [];
  if (agent === null) return ["it has a trajectory, and no model drives its agent"];
  const derived = await trialTrajectory(store, agent, { name: server, tools }, record, { trace, readObject });
  const digest = isUnknown(derived) ? null : digestBytes(canonicalBytes(derived));
  return digest === (isUnknown(kept) ? null : kept.digest)
    ? []
    : ["its trajectory does not come out of its evidence again"];
}
