import type { BudgetName, Budgets, Prices } from "../base/formats/budgets.ts";
import { priceOf } from "../base/formats/cost.ts";
import type { Usage } from "../base/formats/trace-events.ts";
import { isUnknown, type Known } from "../base/unknown.ts";

/** What one model request sets aside before it goes out. */
export interface Reservation {
  readonly tokens: number;
  readonly costMicroUsd: number | null;
}

export interface Exhausted {
  readonly budget: BudgetName;
  readonly limit: number;
  /** Settled and reserved amounts before this request. */
  readonly used: number;
  readonly reserved: number;
}

/** One token stands for at least this many bytes in ordinary text; the reservation is settled by the true count afterwards. */
const BYTES_PER_TOKEN = 3;

/** Tokens that a request of this size may use at most, by estimate of its input and the output's stated maximum. */
export function estimate(requestBytes: number, maxOutputTokens: number, prices: Prices | null): Reservation {
  const input = Math.ceil(requestBytes / BYTES_PER_TOKEN);
  const dearest = prices === null ? 0 : Math.max(prices.input, prices.cacheWriteInput ?? 0);
  return {
    tokens: input + maxOutputTokens,
    costMicroUsd: prices === null ? null : priceOf(input, dearest) + priceOf(maxOutputTokens, prices.output),
  };
}

/**
 * The running account of one trial. Every method is synchronous, so requests that arrive together cannot pass a limit together. A
 * request whose usage stays unknown keeps its reservation.
 */
export class BudgetLedger {
  readonly #budgets: Budgets;
  #requests = 0;
  #toolCalls = 0;
  #tokens = 0;
  #cost = 0;
  #reservedTokens = 0;
  #reservedCost = 0;

  constructor(budgets: Budgets) {
    this.#budgets = budgets;
  }

  /** Sets a model request's maximum aside, or names the budget that has no room for it. */
  reserve(reservation: Reservation): Exhausted | null {
    const { modelRequests, tokens, costMicroUsd } = this.#budgets;
    if (modelRequests !== null && this.#requests + 1 > modelRequests) {
      return { budget: "modelRequests", limit: modelRequests, used: this.#requests, reserved: 0 };
    }
    if (tokens !== null && this.#tokens + this.#reservedTokens + reservation.tokens > tokens) {
      return { budget: "tokens", limit: tokens, used: this.#tokens, reserved: this.#reservedTokens };
    }
    const cost = reservation.costMicroUsd ?? 0;
    if (costMicroUsd !== null && this.#cost + this.#reservedCost + cost > costMicroUsd) {
      return { budget: "costMicroUsd", limit: costMicroUsd, used: this.#cost, reserved: this.#reservedCost };
    }
    this.#requests += 1;
    this.#reservedTokens += reservation.tokens;
    this.#reservedCost += cost;
    return null;
  }

  /** Replaces a reservation by what was used, where that is known. Returns the budgets that are passed now. */
  settle(reservation: Reservation, usage: Usage, cost: Known<number>): Exhausted[] {
    const { tokens, costMicroUsd } = this.#budgets;
    const before = { tokens: this.#tokens, cost: this.#cost };
    if (!isUnknown(usage.input) && !isUnknown(usage.output)) {
      this.#reservedTokens -= reservation.tokens;
      this.#tokens += usage.input + usage.output;
    }
    if (!isUnknown(cost)) {
      this.#reservedCost -= reservation.costMicroUsd ?? 0;
      this.#cost += cost;
    }
    const passed: Exhausted[] = [];
    if (tokens !== null && this.#tokens > tokens && before.tokens <= tokens) {
      passed.push({ budget: "tokens", limit: tokens, used: this.#tokens, reserved: this.#reservedTokens });
    }
    if (costMicroUsd !== null && this.#cost > costMicroUsd && before.cost <= costMicroUsd) {
      passed.push({ budget: "costMicroUsd", limit: costMicroUsd, used: this.#cost, reserved: this.#reservedCost });
    }
    return passed;
  }

  /** Counts tool calls, all or none. */
  useToolCalls(calls: number): Exhausted | null {
    const { toolCalls } = this.#budgets;
    if (toolCalls !== null && this.#toolCalls + calls > toolCalls) {
      return { budget: "toolCalls", limit: toolCalls, used: this.#toolCalls, reserved: 0 };
    }
    this.#toolCalls += calls;
    return null;
  }
}
