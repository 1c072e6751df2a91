import { join } from "node:path";
import { type Clock, systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import type { Engine } from "../docker/engine.ts";
import { BUNDLE, type BundleWriter } from "../evidence/bundle.ts";
import { tryLockFile } from "../evidence/file-lock.ts";
import { readLedger } from "../evidence/ledger.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld, TrialWorld } from "../trial/world.ts";
import { readAttempts, standingAttempts } from "./attempts.ts";
import type { ReadyGateway } from "./gateways-ahead.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { Condition } from "./order.ts";
import { type Opening, readOpenings } from "./run-opening.ts";
import type { RunRequest } from "./run-request.ts";
import { runTrials } from "./run-trials.ts";
import { type SealedRun, sealRun } from "./seal-run.ts";
import type { LoadedStudy } from "./study-file.ts";

/** What every execution of a plan, first or later, is given. */
export interface SessionOptions {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  readonly prepared: PreparedPlan;
  /** What the plan was made from, for a later resume. */
  readonly request: RunRequest;
  /** The runner's folder, whose local state notes that the run is under way. */
  readonly projectRoot: string;
  readonly concurrency: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/** A condition's bundle while its run is open. */
export interface OpenSide {
  readonly condition: Condition;
  readonly bundle: BundleWriter;
  /** Bytes of the surface that a preflight saw; null in control. */
  readonly surface: Buffer | null;
  /** Reports that the run had before, which are in the store. */
  readonly earlier: readonly ObjectRef[];
}

/**
 * Runs the given attempts, closes the run in each bundle's ledger and seals each bundle from what its ledger says. `ready` are gateways that
 * trials of these have already.
 */
export async function runSession(
  options: SessionOptions,
  shared: SharedWorld,
  sides: readonly OpenSide[],
  specs: readonly TrialSpec[],
  ready: readonly ReadyGateway[] = [],
): Promise<SealedRun[]> {
  const { engine, prepared, clock = systemClock } = options;
  const worlds = new Map<Condition, TrialWorld>();
  const bundles = new Map<Condition, BundleWriter>();
  for (const { condition, bundle } of sides) {
    worlds.set(condition, { ...shared, store: bundle.store });
    bundles.set(condition, bundle);
  }
  await runTrials(options, specs, worlds, bundles, ready);
  const runs: SealedRun[] = [];
  for (const { condition, bundle, surface, earlier } of sides) {
    await bundle.ledger.append({ type: "run-closed", runId: shared.runId });
    const path = join(bundle.dir, BUNDLE.ledger);
    const { lines } = await readLedger(path);
    const opening = requireOpening(readOpenings(lines, path)?.opening, path);
    const { trials, superseded, cutOff } = standingAttempts(readAttempts(lines));
    runs.push(
      await sealRun({
        bundle,
        runId: shared.runId,
        condition,
        order: opening.order,
        prepared,
        surface,
        trials: [...trials],
        superseded: [...superseded],
        cutOff: [...cutOff],
        earlier: [...earlier],
        oracle: opening.oracle,
        engine,
        startedAt: opening.startedAt,
        finishedAt: clock.wall(),
      }),
    );
  }
  return runs;
}

/**
 * Holds a bundle's ledger for this process alone: as long as it does, nobody else appends to it.
 * @throws RunnerError `RUN_BUSY` when another process is at work in the bundle.
 */
export async function holdLedger(dir: string): Promise<AsyncDisposable> {
  // A process that was killed a moment ago takes some milliseconds to let go.
  const lock = await tryLockFile(join(dir, BUNDLE.ledger), 2);
  if (lock !== null) return lock;
  throw new RunnerError("refused", "RUN_BUSY", `another process is at work in ${dir}`, {
    hint: "Wait until it has ended: a run is never continued by two at once.",
  });
}

/** Image ids of the plan's tasks by role, as a run binds them; what could not be made is left out. */
export function taskImagesOf({ tasks }: PreparedPlan): Opening["taskImages"] {
  return Object.fromEntries(
    [...tasks].flatMap(([id, { prepared, unavailable }]) => {
      if (unavailable !== null || prepared.environment.id === null) return [];
      const verifiers = prepared.verifiers.flatMap((image, index) =>
        image === null || image.id === null ? [] : [[`verifier-${index + 1}`, image.id] as const],
      );
      return [[id, { environment: prepared.environment.id, ...Object.fromEntries(verifiers) }]];
    }),
  );
}

function requireOpening(opening: Opening | undefined, path: string): Opening {
  if (opening === undefined) throw new Error(`${path} opens no run`);
  return opening;
}
