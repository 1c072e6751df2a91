import { isUnknown, type Known } from "../base/unknown.ts";
import type { RoleTally } from "./tally.ts";
import type { Role } from "./terms.ts";

/** Calls of one role in a flat table; what is not known says so. */
export interface CallRow {
  readonly role: string;
  readonly calls: number;
  readonly valid: number;
  readonly invalid: string;
  readonly transport_retries: number;
  readonly prompt_tokens: string;
  readonly completion_tokens: string;
  readonly cost_usd: string;
  readonly models: string;
}

/** The calls of a run by role. */
export function callRows(calls: Partial<Record<Role, RoleTally>>): CallRow[] {
  return Object.entries(calls).map(([role, tally]) => ({
    role,
    calls: tally.calls,
    valid: tally.valid,
    invalid: Object.entries(tally.invalid)
      .map(([reason, count]) => `${reason} ${count}`)
      .join(", "),
    transport_retries: tally.transport_retries,
    prompt_tokens: known(tally.tokens.prompt, tally.tokens.reported.prompt),
    completion_tokens: known(tally.tokens.completion, tally.tokens.reported.completion),
    cost_usd: isUnknown(tally.cost_micro_usd) ? "unknown" : (tally.cost_micro_usd / 1_000_000).toFixed(6),
    models: tally.observed_models.join(", "),
  }));
}

function known(value: Known<number>, reported: number): string {
  return isUnknown(value) ? `unknown (at least ${reported})` : String(value);
}
