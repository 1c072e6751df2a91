/** One gate that a step missed. */
export interface MissedGate {
  readonly key: string;
  readonly minimum: number;
  /** null: the reward has no such key. */
  readonly value: number | null;
}

/** The gates of a step that its rewards miss; the trial goes on when there is none. A key that is not there counts as minus infinity. */
export function missedGates(
  minReward: Readonly<Record<string, number>> | null,
  rewards: Readonly<Record<string, number>>,
): readonly MissedGate[] {
  return Object.entries(minReward ?? {}).flatMap(([key, minimum]) => {
    const value = Object.hasOwn(rewards, key) ? (rewards[key] ?? null) : null;
    return (value ?? Number.NEGATIVE_INFINITY) >= minimum ? [] : [{ key, minimum, value }];
  });
}

/**
 * The trial's rewards from its steps'. `steps` are the verified steps in order; `declared` is how many the task has. Steps that were not
 * reached count 0 in every key: an early end must not raise the mean. `final` takes the last declared step. A single-step task's rewards are
 * its step's own.
 */
export function combineSteps(
  strategy: "mean" | "final",
  declared: number,
  steps: readonly Readonly<Record<string, number>>[],
): Readonly<Record<string, number>> {
  const combined: Record<string, number> = {};
  for (const key of new Set(steps.flatMap((rewards) => Object.keys(rewards)))) {
    const values = steps.map((rewards) => (Object.hasOwn(rewards, key) ? (rewards[key] ?? 0) : 0));
    const value =
      strategy === "final"
        ? steps.length === declared
          ? (values.at(-1) ?? 0)
          : 0
        : values.reduce((sum, member) => sum + member, 0) / Math.max(declared, 1);
    Object.defineProperty(combined, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return combined;
}
