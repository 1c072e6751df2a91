import pLimit from "p-limit";
import { allOrAbort } from "../base/all-or-abort.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import type { BundleWriter } from "../evidence/bundle.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { TrialWorld } from "../trial/world.ts";
import { needsGateway, type ReadyGateway, startGatewaysAhead } from "./gateways-ahead.ts";
import type { Condition } from "./order.ts";
import { runSealed } from "./sealed-trial.ts";

/** How trials are run side by side. */
export interface RunTrialsOptions {
  readonly concurrency: number;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Runs trials in their order, some at once, each in the world and the bundle of its condition; the first that must stop the run stops all.
 * `ready` are gateways that trials of these have already.
 */
export async function runTrials(
  { concurrency, report, signal, clock = systemClock }: RunTrialsOptions,
  specs: readonly TrialSpec[],
  worlds: ReadonlyMap<Condition, TrialWorld>,
  bundles: ReadonlyMap<Condition, BundleWriter>,
  ready: readonly ReadyGateway[],
): Promise<void> {
  const limit = pLimit(concurrency);
  const from = clock.micros();
  let done = 0;
  await allOrAbort(signal, (joint) => {
    const ahead = new Map(
      [...worlds].map(([condition, world]) => [
        condition,
        startGatewaysAhead(
          world,
          specs.filter((spec) => spec.condition === condition),
          concurrency,
          ready.filter(({ spec }) => spec.condition === condition),
          joint,
        ),
      ]),
    );
    const trials = specs.map((spec) =>
      limit(async () => {
        joint.throwIfAborted();
        const condition = spec.condition as Condition;
        const world = worlds.get(condition);
        const bundle = bundles.get(condition);
        if (world === undefined || bundle === undefined) throw new Error(`no world for ${condition}`);
        const gateways = needsGateway(spec) ? ahead.get(condition) : undefined;
        const take = gateways === undefined ? null : () => gateways.take(spec);
        const sealed = await runSealed(world, bundle, spec, take, joint);
        done += 1;
        report(progressLine(sealed.record, done, specs.length, clock.micros() - from));
      }),
    );
    // The gateways started ahead go when every trial has ended, whatever the reason.
    const released = Promise.allSettled(trials).then(() =>
      Promise.all([...ahead.values()].map((gateways) => gateways[Symbol.asyncDispose]())),
    );
    return [...trials, released.then(() => undefined)];
  });
  signal.throwIfAborted();
}

function progressLine(record: TrialRecord, done: number, total: number, elapsedMicros: number): string {
  const reward = record.reward === null ? "" : ` reward ${record.reward}`;
  const cause = record.cause === null ? "" : ` (${record.cause.code}: ${record.cause.detail})`;
  const left = done < total ? `, about ${Math.ceil(((elapsedMicros / done) * (total - done)) / 1e6)} s left` : "";
  const seconds = ((record.elapsed.total ?? 0) / 1e6).toFixed(1);
  return `[${done}/${total}] ${record.task} ${record.condition} #${record.repetition}: ${record.outcome}${reward}${cause} in ${seconds} s${left}`;
}
