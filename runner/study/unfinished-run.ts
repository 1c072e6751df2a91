import pLimit from "p-limit";
import { canonicalBytes } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { createBundle } from "../evidence/bundle.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import { openRun } from "./execute.ts";
import { runSealed } from "./sealed-trial.ts";
import type { SessionOptions } from "./session.ts";
import { planTrialSpecs } from "./trial-specs.ts";

const WRITERS = 64;

/**
 * Writes a control run that stopped before its last `missing` trials, for a resume to be measured on. Its first trial is run; the others get
 * that trial's record under their own numbers, and say so in it. Returns how many trials are sealed.
 */
export async function writeUnfinishedRun(options: SessionOptions, dir: string, missing: number): Promise<number> {
  const { engine, prepared, signal, report, clock = systemClock } = options;
  const runId = newRunId(clock);
  await using shared = await openWorld({ engine, runId, images: prepared.own.ids, signal, clock });
  await using bundle = await createBundle(dir);
  const opening = { runId, condition: "control", order: "separate", startedAt: clock.wall(), seen: null } as const;
  await openRun(options, bundle, opening);
  const [first, ...others] = (await planTrialSpecs(options)).filter(({ condition }) => condition === "control");
  if (first === undefined) throw new Error("the plan has no trials");
  const { record } = await runSealed({ ...shared, store: bundle.store }, bundle, first, null, signal);
  const copied = others.slice(0, Math.max(0, others.length - missing));
  const limit = pLimit(WRITERS);
  let done = 0;
  await Promise.all(
    copied.map(({ number, attempt, repetition, condition }) =>
      limit(async () => {
        signal.throwIfAborted();
        const identity = { number, attempt, task: record.task, condition, repetition };
        await bundle.ledger.append({ type: "trial-started", ...identity, agent: record.agent.name });
        const observations = [...record.observations, `a copy of trial ${first.number}, written by a benchmark`];
        const ref = await bundle.store.put(canonicalBytes({ ...record, number, attempt, repetition, observations }));
        const { outcome } = record;
        const sealed = { digest: ref.digest, size: ref.size };
        await bundle.ledger.append({ type: "trial-sealed", ...identity, outcome, record: sealed });
        done += 1;
        if (done % 2500 === 0) report(`${done} of ${copied.length} trials written`);
      }),
    ),
  );
  await bundle.store.sync();
  return 1 + copied.length;
}
