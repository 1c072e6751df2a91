import { canonicalBytes } from "../base/canonical-json.ts";
import type { BundleWriter } from "../evidence/bundle.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { GatewaySet } from "../trial/gateway-set.ts";
import type { TrialRecord } from "../trial/record.ts";
import { runTrial } from "../trial/run-trial.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";

/** A trial whose record is durable and in the ledger. */
export interface SealedTrial {
  readonly record: TrialRecord;
  readonly ref: ObjectRef;
}

/**
 * Runs a trial between two ledger lines: the intent before anything is created, and the record's digest after everything it names is
 * durable. An attempt with the first line only was interrupted.
 */
export async function runSealed(
  world: TrialWorld,
  bundle: BundleWriter,
  spec: TrialSpec,
  gateway: (() => Promise<GatewaySet>) | null,
  signal: AbortSignal,
): Promise<SealedTrial> {
  const { number, attempt, condition, repetition } = spec;
  const identity = { number, attempt, task: spec.task.id, condition, repetition };
  await bundle.ledger.append({ type: "trial-started", ...identity, agent: agentLabel(spec) });
  const record = await runTrial(world, spec, gateway, signal);
  const ref = await bundle.store.put(canonicalBytes(record));
  await bundle.store.sync();
  await bundle.ledger.append({
    type: "trial-sealed",
    ...identity,
    outcome: record.outcome,
    record: { digest: ref.digest, size: ref.size },
  });
  return { record, ref };
}

function agentLabel({ agent }: TrialSpec): string {
  switch (agent.kind) {
    case "trap":
      return `trap:${agent.trap.name}`;
    case "model":
      return agent.agent.name;
    default:
      return agent.kind;
  }
}
