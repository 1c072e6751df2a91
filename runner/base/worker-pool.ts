import { availableParallelism } from "node:os";
import type { Worker } from "node:worker_threads";

/** Where a program for worker threads lies, and how many of them to start. */
export interface WorkerProgram {
  readonly url: URL;
  readonly count: number;
}

/** As many workers as there are processors, and no more than there is work for. */
export function workersFor(program: URL, most: number): WorkerProgram {
  return { url: program, count: Math.max(1, Math.min(availableParallelism(), most)) };
}

/** Batches that a worker has before it, so that it never waits for this thread. */
const AHEAD = 2;

/**
 * Gives each batch to a worker and yields the answers in the order of the batches, so that a result does not depend on which thread was
 * faster. A worker answers every message with one. Few batches are held at a time, whatever their number.
 * @throws what a worker died of; the signal's reason when aborted.
 */
export async function* answersInOrder<Batch, Answer>(
  start: () => Worker,
  count: number,
  batches: Iterable<Batch>,
  signal: AbortSignal,
): AsyncGenerator<Answer> {
  const workers = Array.from({ length: count }, () => attend<Answer>(start()));
  const asked: Promise<Answer>[] = [];
  try {
    let next = 0;
    for (const batch of batches) {
      signal.throwIfAborted();
      const worker = workers[next++ % count];
      if (worker === undefined) throw new RangeError(`Expected at least one worker, got ${count}`);
      asked.push(worker.ask(batch));
      const first = asked.length < count * AHEAD ? undefined : asked.shift();
      if (first !== undefined) yield await first;
    }
    for (const answer of asked) {
      signal.throwIfAborted();
      yield await answer;
    }
  } finally {
    await Promise.all(workers.map(({ worker }) => worker.terminate()));
  }
}

function attend<Answer>(worker: Worker) {
  const waiting: { readonly resolve: (answer: Answer) => void; readonly reject: (reason: unknown) => void }[] = [];
  const fail = (reason: unknown): void => {
    for (const { reject } of waiting.splice(0)) reject(reason);
  };
  worker.on("message", (answer: Answer) => waiting.shift()?.resolve(answer));
  worker.on("error", fail);
  worker.on("exit", () => fail(new Error("A worker ended before its work was done")));
  const ask = (batch: unknown): Promise<Answer> => {
    const answer = new Promise<Answer>((resolve, reject) => waiting.push({ resolve, reject }));
    // Whoever gives up early leaves answers behind that nobody waits for.
    answer.catch(() => undefined);
    worker.postMessage(batch);
    return answer;
  };
  return { worker, ask };
}

/** Cuts a list into pieces of at most `size`, made as they are asked for. */
export function* piecesOf<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
