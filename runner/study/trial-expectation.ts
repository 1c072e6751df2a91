import type { Digest } from "../base/digest.ts";
import { type Budgets, budgetsSchema, type Prices, pricesSchema } from "../base/formats/budgets.ts";
import { parseInput } from "../base/zod-input.ts";
import type { PlannedTrial } from "./order.ts";
import type { Plan, TaskBinding } from "./plan.ts";
import type { RowContext } from "./trial-row.ts";

/** The plan's limits as a gateway is started with them. */
export interface BoundLimits {
  readonly prices: Prices | null;
  readonly budgets: Budgets;
}

/** @throws RunnerError `INPUT_INVALID` for a plan whose prices or budgets are none. */
export function limitsOf({ model, budgets }: Plan): BoundLimits {
  const prices = model?.prices ?? null;
  return {
    prices: prices === null ? null : parseInput(pricesSchema, prices, "the plan's prices"),
    budgets: parseInput(budgetsSchema, budgets, "the plan's budgets"),
  };
}

/** What one sealed trial is held against. */
export interface TrialExpectation {
  readonly plan: Plan;
  readonly planned: PlannedTrial;
  readonly binding: TaskBinding;
  readonly attempt: number;
  readonly context: RowContext;
  readonly limits: BoundLimits;
  /** The locked surface without its catalog, which is read once a run and not in every trial. */
  readonly surface: Digest;
  /** Digests of the surfaces that were read before, by the object that holds them; filled on the way. */
  readonly surfaces: Map<Digest, Digest>;
}
