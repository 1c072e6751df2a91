import { planDigest } from "../study/make-plan.ts";
import type { Condition } from "../study/order.ts";
import { callBudget, type Plan } from "../study/plan.ts";
import type { CommandIo } from "./command.ts";

/** Prints a plan: its digest, its trials in order, and the most that they can use up. */
export function printPlan(
  plan: Plan,
  conditions: readonly Condition[],
  json: boolean,
  io: Pick<CommandIo, "out">,
): void {
  const budget = callBudget(plan, conditions);
  if (json) {
    io.out(`${JSON.stringify({ planDigest: planDigest(plan), conditions, callBudget: budget, plan })}\n`);
    return;
  }
  io.out(`plan ${planDigest(plan)} of study ${plan.studyId}${plan.subset ? " (subset)" : ""}\n`);
  for (const trial of plan.trials.filter(({ condition }) => conditions.includes(condition))) {
    io.out(
      `${String(trial.number).padStart(5)}  pair ${trial.pair}  ${trial.task} #${trial.repetition} ${trial.condition}\n`,
    );
  }
  io.out(
    `at most ${budget.modelRequests} model requests, ${budget.tokens} tokens, ${budget.toolCalls} tool calls, ` +
      `${budget.costMicroUsd === null ? "no cost limit" : `${budget.costMicroUsd / 1e6} dollars`}, ${budget.agentSeconds} s of agent time; model: ${plan.model?.source ?? "none"}\n`,
  );
}
