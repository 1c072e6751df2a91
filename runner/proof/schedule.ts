/**
 * One step of a unit; it gives the steps that may follow it. It calls `release` when its place can go to another step already, because
 * nothing is left of it but to read and keep what it got.
 */
export type Step = (release: () => void) => Promise<readonly Step[]>;

/** Steps that belong together: `first` start it, `finish` runs when none is left. */
export interface UnitOfWork {
  readonly first: readonly Step[];
  readonly finish: () => Promise<void>;
}

export interface ScheduleOptions {
  readonly concurrency: number;
  /** Steps that may have released their places and not ended, at most. */
  readonly released: number;
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

interface Job {
  readonly unit: Open;
  readonly step: Step;
}

/** Units that may be finishing (writing) while others go on. */
const MOST_FINISHING = 32;

/**
 * Runs units with at most `concurrency` steps at once, besides those that have released their places. A ready step of an earlier unit goes
 * before one of a later unit, and a new unit starts only when no step is ready, so few units are open at any time. The first failure stops
 * everything and is thrown when all is quiet.
 */
export function schedule(units: Iterable<UnitOfWork>, options: ScheduleOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const iterator = units[Symbol.iterator]();
    const ready: Job[] = [];
    let failure: { readonly thrown: unknown } | undefined;
    let exhausted = false;
    let started = 0;
    // Steps that hold a place, steps that have released theirs, and units that are finishing.
    let [held, released, finishing] = [0, 0, 0];

    const fail = (thrown: unknown): void => {
      if (failure !== undefined) return;
      failure = { thrown };
      options.onFailure(thrown);
    };
    const finish = (unit: Open): void => {
      finishing += 1;
      void unit.work
        .finish()
        .catch(fail)
        .finally(() => {
          finishing -= 1;
          goOn();
        });
    };
    const startUnit = (): boolean => {
      if (exhausted || finishing >= MOST_FINISHING) return false;
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
    const take = (): Job | undefined => {
      while (ready.length === 0 && startUnit());
      let best = 0;
      for (let index = 1; index < ready.length; index += 1) {
        if ((ready[index]?.unit.number ?? 0) < (ready[best]?.unit.number ?? 0)) best = index;
      }
      return ready.splice(best, 1)[0];
    };
    const perform = async ({ unit, step }: Job): Promise<void> => {
      let place = true;
      held += 1;
      try {
        const more = await step(() => {
          if (!place || released >= options.released) return;
          place = false;
          held -= 1;
          released += 1;
          goOn();
        });
        unit.left += more.length - 1;
        for (const next of more) ready.push({ unit, step: next });
        if (unit.left === 0) finish(unit);
      } catch (thrown) {
        fail(thrown);
      } finally {
        if (place) held -= 1;
        else released -= 1;
        goOn();
      }
    };
    /** Starts what may start, and ends when nothing is under way and nothing can start. */
    const goOn = (): void => {
      while (held < options.concurrency && failure === undefined && !options.signal.aborted) {
        try {
          const job = take();
          if (job === undefined) break;
          void perform(job);
        } catch (thrown) {
          fail(thrown);
        }
      }
      if (held + released + finishing > 0) return;
      if (failure === undefined) resolve();
      else reject(failure.thrown);
    };
    goOn();
  });
}
