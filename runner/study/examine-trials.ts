import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { answersInOrder, piecesOf, workersFor } from "../base/worker-pool.ts";
import { blockingStore } from "../evidence/blocking-store.ts";
import { type ExaminedRun, type ExaminedTrial, openExaminer, type TrialToExamine } from "./examine-trial.ts";

/** Trials of one message to a worker. */
const BATCH = 16;
/** Below this many trials a thread costs more than it saves. */
const TRIALS_FOR_THREADS = 128;

/**
 * Examines the trials of a bundle and yields what was found in their order: on all processors where `program`, the file of the worker's
 * program, is there and the trials are many; in this thread otherwise. The answers are the same.
 */
export async function* examineTrials(
  dir: string,
  run: ExaminedRun | null,
  trials: readonly TrialToExamine[],
  program: URL | null,
  signal: AbortSignal,
): AsyncGenerator<ExaminedTrial> {
  if (program === null || trials.length < TRIALS_FOR_THREADS) {
    const examine = openExaminer(blockingStore(dir), run);
    for (const trial of trials) {
      signal.throwIfAborted();
      yield await examine(trial);
      await setImmediate();
    }
    return;
  }
  const { url, count } = workersFor(program, Math.ceil(trials.length / BATCH));
  const start = (): Worker => new Worker(url, { workerData: { dir, run } });
  for await (const found of answersInOrder<readonly TrialToExamine[], readonly ExaminedTrial[]>(
    start,
    count,
    piecesOf(trials, BATCH),
    signal,
  )) {
    yield* found;
  }
}
