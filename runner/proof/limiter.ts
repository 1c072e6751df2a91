/** A place among the calls to one endpoint. */
export interface Ticket {
  readonly round: number;
}

/** Limits the calls in flight to one endpoint, and learns from its refusals how many it takes. */
export interface Limiter {
  /** Waits for a place; one that asks again after a failure (`again`) goes before those that have not been asked yet. */
  readonly acquire: (again: boolean) => Promise<Ticket>;
  /** Gives the place back: the limit grows by about a tenth a round after successes. */
  readonly release: (ticket: Ticket, outcome: "good" | "overloaded" | "other") => void;
  /** No call starts before this many milliseconds have passed. */
  readonly pause: (milliseconds: number) => void;
  readonly limit: () => number;
  /** Fails everyone who waits, and whoever asks later. */
  readonly close: (reason: Error) => void;
}

interface Waiter {
  readonly resolve: (ticket: Ticket) => void;
  readonly reject: (reason: Error) => void;
}

/**
 * Additive increase, multiplicative decrease between 1 and `most` calls. All refusals of calls that were in flight together halve the limit
 * once, since they tell the same thing.
 */
export function makeLimiter(most: number, nowMs: () => number = () => performance.now()): Limiter {
  const waiting: Waiter[] = [];
  let limit = most;
  let inFlight = 0;
  let round = 0;
  let pausedUntil = 0;
  let timer: NodeJS.Timeout | undefined;
  let closed: Error | undefined;

  const admit = (): void => {
    const wait = pausedUntil - nowMs();
    if (wait > 0) {
      clearTimeout(timer);
      if (waiting.length > 0) timer = setTimeout(admit, wait);
      return;
    }
    while (inFlight < Math.floor(limit)) {
      const next = waiting.shift();
      if (next === undefined) return;
      inFlight += 1;
      next.resolve({ round });
    }
  };
  return {
    acquire: (again) =>
      new Promise((resolve, reject) => {
        if (closed !== undefined) return reject(closed);
        if (again) waiting.unshift({ resolve, reject });
        else waiting.push({ resolve, reject });
        admit();
      }),
    release: (ticket, outcome) => {
      inFlight -= 1;
      if (outcome === "good") limit = Math.min(most, limit + Math.max(1 / limit, 0.1));
      if (outcome === "overloaded" && ticket.round === round) {
        limit = Math.max(1, Math.floor(limit) / 2);
        round += 1;
      }
      admit();
    },
    pause: (milliseconds) => {
      pausedUntil = Math.max(pausedUntil, nowMs() + milliseconds);
    },
    limit: () => Math.floor(limit),
    close: (reason) => {
      closed = reason;
      clearTimeout(timer);
      for (const waiter of waiting.splice(0)) waiter.reject(reason);
    },
  };
}
