import { seededRandom, shuffled } from "../base/random.ts";

export type Condition = "control" | "treatment";
export const CONDITIONS: readonly Condition[] = ["control", "treatment"];

/** One trial of a plan, in the order in which trials are started. */
export interface PlannedTrial {
  /** 1-based place in the plan; the trial's identity within its run. */
  readonly number: number;
  /** 1-based place of its pair. */
  readonly pair: number;
  readonly task: string;
  /** 1-based. */
  readonly repetition: number;
  readonly condition: Condition;
}

/**
 * Expands tasks and repetitions to pairs, in an order drawn from the seed. Pairs are drawn in blocks: every block holds each task once,
 * so that a drift of the provider or the machine during a run does not fall on some tasks alone. Inside a pair the order of the
 * conditions is drawn as well.
 */
export function orderTrials(tasks: readonly string[], repetitions: number, seed: number): PlannedTrial[] {
  const random = seededRandom(seed);
  const trials: PlannedTrial[] = [];
  let pair = 0;
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    for (const task of shuffled([...tasks].sort(), random)) {
      pair += 1;
      for (const condition of shuffled(CONDITIONS, random)) {
        trials.push({ number: trials.length + 1, pair, task, repetition, condition });
      }
    }
  }
  return trials;
}
