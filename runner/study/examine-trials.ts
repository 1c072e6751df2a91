import { setImmediate } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { collectGarbage } from "../base/collect-garbage.ts";
import { hasCode } from "../base/errors.ts";
import { answersInOrder, piecesOf, workersFor } from "../base/worker-pool.ts";
import { blockingStore } from "../evidence/blocking-store.ts";
import { type ExaminedRun, type ExaminedTrial, openExaminer, type TrialToExamine } from "./examine-trial.ts";

/** Trials of one message to a worker. */
const BATCH = 16;
/** Below this many trials a thread costs more than it saves. */
const TRIALS_FOR_THREADS = 128;
/** Trials after which what they left in this thread is given back. */
const TRIALS_TO_COLLECT = 2048;
/** A worker's heap: many times what a usual trace takes, and little enough that two workers stay small. */
const HEAP = { maxYoungGenerationSizeMb: 24, maxOldGenerationSizeMb: 128 };

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
  let done = 0;
  if (program !== null && trials.length >= TRIALS_FOR_THREADS) {
    try {
      for await (const found of inWorkers(dir, run, trials, program, signal)) {
        done += 1;
        yield found;
        if (done % TRIALS_TO_COLLECT === 0) collectGarbage();
      }
      collectGarbage();
      return;
    } catch (thrown) {
      // A trace beyond a worker's heap has room in this thread, which goes on from the first trial without an answer.
      if (!hasCode(thrown, "ERR_WORKER_OUT_OF_MEMORY")) throw thrown;
    }
  }
  const examine = openExaminer(blockingStore(dir), run);
  for (const trial of trials.slice(done)) {
    signal.throwIfAborted();
    yield await examine(trial);
    await setImmediate();
  }
}

async function* inWorkers(
  dir: string,
  run: ExaminedRun | null,
  trials: readonly TrialToExamine[],
  program: URL,
  signal: AbortSignal,
): AsyncGenerator<ExaminedTrial> {
  const { url, count } = workersFor(program, Math.ceil(trials.length / BATCH));
  const start = (): Worker => new Worker(url, { workerData: { dir, run }, resourceLimits: HEAP });
  const batches = piecesOf(trials, BATCH);
  for await (const found of answersInOrder<readonly TrialToExamine[], readonly ExaminedTrial[]>(
    start,
    count,
    batches,
    signal,
  ))
    yield* found;
}
