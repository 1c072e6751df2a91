import { z } from "zod";

/**
 * Hard limits of one trial; null means no limit. `agentSeconds` counts from the agent's start, `tokens` adds input and output of every
 * request, `costMicroUsd` needs prices, `toolCalls` counts MCP `tools/call` requests.
 */
export const budgetsSchema = z.strictObject({
  agentSeconds: z.number().positive().nullable().default(null),
  modelRequests: z.int().positive().nullable().default(null),
  tokens: z.int().positive().nullable().default(null),
  costMicroUsd: z.int().positive().nullable().default(null),
  toolCalls: z.int().nonnegative().nullable().default(null),
});
export type Budgets = z.infer<typeof budgetsSchema>;
export type BudgetName = keyof Budgets;
export const budgetNameSchema = z.enum(["agentSeconds", "modelRequests", "tokens", "costMicroUsd", "toolCalls"]);

/** Micro-dollars for a million tokens. Input read from or written to a cache costs as much as other input when its price is null. */
export const pricesSchema = z.strictObject({
  input: z.int().nonnegative(),
  cachedInput: z.int().nonnegative().nullable().default(null),
  cacheWriteInput: z.int().nonnegative().nullable().default(null),
  output: z.int().nonnegative(),
});
export type Prices = z.infer<typeof pricesSchema>;
