/** One step of a unit; it gives the steps that may follow it. */
export type Step = () => Promise<readonly Step[]>;

/** Steps that belong together: `first` start it, `finish` runs when none is left. */
export interface UnitOfWork {
  readonly first: readonly Step[];
  readonly finish: () => Promise<void>;
}

export interface ScheduleOptions {
  readonly concurrency: number;
  /** No further step starts once it is aborted; those under way end by themselves. */
  readonly signal: AbortSignal;
  /** Called once, at the first failure, to cut off the steps under way. */
  readonly onFailure: (thrown: unknown) => void;
}

interface Open {
  readonly number: number;
  readonly work: UnitOfWork;
  left: number;
}

/** Units that may be finishing (writing) while others go on. */
const MOST_FINISHING = 32;

/**
 * Runs units with at most `concurrency` steps at once. A ready step of an earlier unit goes before one of a later unit, and a new unit starts
 * only when no step is ready, so few units are open at any time. The first failure stops everything and is thrown when all is quiet.
 */
export async function schedule(units: Iterable<UnitOfWork>, options: ScheduleOptions): Promise<void> {
  const iterator = units[Symbol.iterator]();
  const ready: { readonly unit: Open; readonly step: Step }[] = [];
  const finishing = new Set<Promise<void>>();
  let wake: (() => void)[] = [];
  let underWay = 0;
  let started = 0;
  let exhausted = false;
  let failure: { readonly thrown: unknown } | undefined;

  const notify = (): void => {
    const sleepers = wake;
    wake = [];
    for (const resolve of sleepers) resolve();
  };
  const fail = (thrown: unknown): void => {
    if (failure === undefined) {
      failure = { thrown };
      options.onFailure(thrown);
    }
    notify();
  };
  const stopped = (): boolean => failure !== undefined || options.signal.aborted;

  const finish = (unit: Open): void => {
    const done = unit.work
      .finish()
      .catch(fail)
      .finally(() => {
        finishing.delete(done);
        notify();
      });
    finishing.add(done);
  };
  const startUnit = (): boolean => {
    if (exhausted || finishing.size >= MOST_FINISHING) return false;
    const next = iterator.next();
    if (next.done === true) {
      exhausted = true;
      return false;
    }
    const unit: Open = { number: started, work: next.value, left: next.value.first.length };
    started += 1;
    for (const step of next.value.first) ready.push({ unit, step });
    if (unit.left === 0) finish(unit);
    return true;
  };
  const take = (): (typeof ready)[number] | undefined => {
    while (ready.length === 0 && startUnit());
    let best = 0;
    for (let index = 1; index < ready.length; index += 1) {
      if ((ready[index]?.unit.number ?? 0) < (ready[best]?.unit.number ?? 0)) best = index;
    }
    return ready.splice(best, 1)[0];
  };
  const worker = async (): Promise<void> => {
    while (!stopped()) {
      const job = take();
      if (job === undefined) {
        if (exhausted && underWay === 0) return;
        await new Promise<void>((resolve) => wake.push(resolve));
        continue;
      }
      underWay += 1;
      try {
        const more = await job.step();
        job.unit.left += more.length - 1;
        for (const step of more) ready.push({ unit: job.unit, step });
        if (job.unit.left === 0) finish(job.unit);
      } catch (thrown) {
        fail(thrown);
      } finally {
        underWay -= 1;
        notify();
      }
    }
  };
  options.signal.addEventListener("abort", notify);
  try {
    await Promise.all(Array.from({ length: options.concurrency }, worker));
    while (finishing.size > 0) await Promise.all(finishing);
  } finally {
    options.signal.removeEventListener("abort", notify);
  }
  if (failure !== undefined) throw failure.thrown;
}
