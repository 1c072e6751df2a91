import type { LedgerLine } from "../evidence/ledger.ts";
import { type ObjectRef, objectRefSchema } from "../evidence/object-ref.ts";
import { OUTCOMES, type Outcome } from "../trial/record.ts";

/** Outcomes that get a new attempt; every other sealed trial stands, so that no score is drawn twice. */
export const REPEATED: readonly Outcome[] = ["provider_error", "infra_error", "interrupted"];

/** One attempt of a trial as the ledger tells it. */
export interface Attempt {
  readonly number: number;
  readonly attempt: number;
  /** null: it was begun and never sealed. */
  readonly sealed: { readonly outcome: Outcome; readonly record: ObjectRef } | null;
}

/** Every attempt that a ledger has begun, by trial number, in order. */
export function readAttempts(lines: readonly LedgerLine[]): Map<number, Attempt[]> {
  const trials = new Map<number, Attempt[]>();
  for (const { event } of lines) {
    const { type, number, attempt } = event;
    if (typeof number !== "number" || typeof attempt !== "number") continue;
    const known = trials.get(number) ?? [];
    if (type === "trial-started") trials.set(number, [...known, { number, attempt, sealed: null }]);
    else if (type === "trial-sealed") {
      const outcome = OUTCOMES.find((name) => name === event.outcome);
      const record = objectRefSchema.safeParse(event.record);
      const at = known.findIndex((begun) => begun.attempt === attempt);
      if (outcome !== undefined && record.success && at !== -1)
        known[at] = { number, attempt, sealed: { outcome, record: record.data } };
    }
  }
  return trials;
}

/** An attempt that is still to be made. */
export interface Due {
  readonly number: number;
  readonly attempt: number;
}

/** The attempts that a run of these trials still needs: trials never sealed, and those whose last outcome says nothing about the agent. */
export function dueAttempts(planned: readonly number[], trials: ReadonlyMap<number, readonly Attempt[]>): Due[] {
  return planned.flatMap((number) => {
    const last = trials.get(number)?.at(-1);
    if (last?.sealed != null && !REPEATED.includes(last.sealed.outcome)) return [];
    return [{ number, attempt: (last?.attempt ?? 0) + 1 }];
  });
}

/** The attempts of a run once it is to be sealed, each in one of three lists. */
export interface Standing {
  /** The last attempt of each trial, by number. */
  readonly trials: readonly (Due & { readonly record: ObjectRef })[];
  /** Earlier attempts that were sealed. */
  readonly superseded: readonly (Due & { readonly record: ObjectRef })[];
  /** Attempts that were begun and never sealed. */
  readonly cutOff: readonly Due[];
}

/** Sorts attempts into those that stand and those that do not. @throws Error when a trial's last attempt was not sealed. */
export function standingAttempts(trials: ReadonlyMap<number, readonly Attempt[]>): Standing {
  const standing = { trials: [], superseded: [], cutOff: [] } as {
    [K in keyof Standing]: Standing[K][number][];
  };
  for (const [number, attempts] of [...trials].sort(([a], [b]) => a - b)) {
    for (const [index, { attempt, sealed }] of attempts.entries()) {
      const last = index === attempts.length - 1;
      if (sealed === null) {
        if (last) throw new Error(`trial ${number} is not sealed`);
        standing.cutOff.push({ number, attempt });
      } else (last ? standing.trials : standing.superseded).push({ number, attempt, record: sealed.record });
    }
  }
  return standing;
}
