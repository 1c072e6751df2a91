import { RunnerError } from "../base/errors.ts";
import type { Outcome } from "./call.ts";
import { type Config, completionsUrl } from "./config.ts";
import type { Role } from "./terms.ts";

/** Tells a call that failed from an endpoint that cannot work. */
export interface FirstAnswers {
  /** Performs the whole work of a call, so that it is known whether anything is under way. */
  readonly during: <T>(work: () => Promise<T>) => Promise<T>;
  /**
   * Takes what a call came to. A failure waits until the endpoint has answered any other call: before that nothing says that the failure is
   * the call's own. `release` is called before it waits, so that other calls can start.
   * @throws RunnerError `ENDPOINT_NEVER_ANSWERS` when nothing is under way any more and the endpoint has answered nothing.
   */
  readonly confirm: (role: Role, outcome: Outcome, release: () => void) => Promise<void>;
}

interface Waiting {
  readonly role: Role;
  readonly error: string;
  readonly resolve: () => void;
  readonly reject: (reason: Error) => void;
}

/** Watches the endpoints of a config; those of the roles in `answered` are known to work. */
export function watchFirstAnswers(config: Config, answered: Iterable<Role>): FirstAnswers {
  const working = new Set(answered);
  let waiting: Waiting[] = [];
  let underWay = 0;

  const settle = (): void => {
    waiting = waiting.filter((one) => {
      if (working.has(one.role)) one.resolve();
      return !working.has(one.role);
    });
  };
  /** Whoever can start has started by now; if nobody has, no answer can come any more. */
  const giveUp = (): void => {
    if (underWay > 0) return;
    const lost = waiting;
    waiting = [];
    for (const one of lost) one.reject(neverAnswers(one.role, lost, config));
  };
  const pause = (): void => {
    underWay -= 1;
    if (underWay === 0) setImmediate(giveUp);
  };
  return {
    during: async (work) => {
      underWay += 1;
      try {
        return await work();
      } finally {
        pause();
      }
    },
    confirm: async (role, { error }, release) => {
      if (error === null && !working.has(role)) {
        working.add(role);
        settle();
      }
      if (error === null || working.has(role)) return;
      const answer = new Promise<void>((resolve, reject) => waiting.push({ role, error, resolve, reject }));
      release();
      pause();
      try {
        await answer;
      } finally {
        underWay += 1;
      }
    },
  };
}

function neverAnswers(role: Role, waiting: readonly Waiting[], config: Config): RunnerError {
  const errors = waiting.filter((one) => one.role === role).map(({ error }) => error);
  const kinds = [...new Set(errors)].map((kind) => `${kind} ${errors.filter((error) => error === kind).length}`);
  const endpoint = config[role];
  const where = endpoint === undefined ? "" : ` ${completionsUrl(endpoint)}`;
  return new RunnerError(
    "environment",
    "ENDPOINT_NEVER_ANSWERS",
    `the "${role}" endpoint${where} has not answered a single call (${kinds.join(", ")})`,
    {
      hint: "Check base_url, model, key and generation of this section: a request that is always refused says nothing about a model, so nothing was scored. When the endpoint works, --resume asks these calls again; a changed config needs a new --output.",
    },
  );
}
