import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { Config, Prices } from "./config.ts";
import type { ProofRecord, Reply, Role } from "./terms.ts";

/** What the replies of one role came to. */
export interface RoleTally {
  /** Calls that were made and have ended, in whatever way. */
  readonly calls: number;
  /** Replies that could be read. */
  readonly valid: number;
  /** The others by reason: `HTTP_<status>`, `network_error`, `invalid_chat_response`, `non_stop_finish`, `empty_final_answer`, `format`. */
  readonly invalid: Readonly<Record<string, number>>;
  /** Repetitions after transient transport failures; each can have added a sample at the provider. */
  readonly transport_retries: number;
  /** Replies out of which a secret of the run was taken. */
  readonly redacted: number;
  readonly tokens: Tokens;
  /** Micro-dollars; unknown without prices, or when a reply that may have cost something reported no usage. */
  readonly cost_micro_usd: Known<number>;
  /** Models that answered, as the endpoint named them. */
  readonly observed_models: readonly string[];
}

/** Token totals; unknown as soon as one call does not report them, with what is known beside. */
export interface Tokens {
  readonly prompt: Known<number>;
  readonly completion: Known<number>;
  readonly cached: Known<number>;
  readonly reasoning: Known<number>;
  /** Sums over the calls that report usage. */
  readonly reported: { readonly calls: number; readonly prompt: number; readonly completion: number };
}

interface Running {
  calls: number;
  valid: number;
  readonly invalid: Map<string, number>;
  retries: number;
  redacted: number;
  readonly sums: Record<"prompt" | "completion" | "cached" | "reasoning", { total: number; missing: number }>;
  reported: number;
  cost: number;
  unpriced: number;
  readonly models: Set<string>;
}

/** Adds up the replies of a run, one record or one reply at a time. */
export interface Tally {
  readonly addRecord: (record: ProofRecord) => void;
  readonly addReply: (role: Role, reply: Reply, error: string | null) => void;
  readonly result: () => Partial<Record<Role, RoleTally>>;
}

/** Makes a tally; `free` when the replies come from a cassette and so cost nothing. */
export function makeTally(config: Config, free: boolean): Tally {
  const roles = new Map<Role, Running>();
  const addReply = (role: Role, reply: Reply, error: string | null): void => {
    const running = roles.get(role) ?? fresh();
    roles.set(role, running);
    running.calls += 1;
    running.retries += reply.attempts - 1;
    if (reply.redacted) running.redacted += 1;
    if (reply.model !== null) running.models.add(reply.model);
    if (error === null) running.valid += 1;
    else running.invalid.set(category(error), (running.invalid.get(category(error)) ?? 0) + 1);
    addUsage(running, reply, config[role]?.prices_micro_usd_per_mtok, free);
  };
  const addRecord = (record: ProofRecord): void => {
    if (record.policy_response !== undefined)
      addReply("policy", record.policy_response, record.generation_error ?? null);
    for (const trial of record.verifier_trials) {
      addReply("verifier", trial.response, trial.error);
      if (trial.meta?.response) addReply("meta", trial.meta.response, trial.meta.error);
    }
  };
  const result = (): Partial<Record<Role, RoleTally>> =>
    Object.fromEntries([...roles].map(([role, running]) => [role, close(running)]));
  return { addRecord, addReply, result };
}

function fresh(): Running {
  const zero = () => ({ total: 0, missing: 0 });
  return {
    calls: 0,
    valid: 0,
    invalid: new Map(),
    retries: 0,
    redacted: 0,
    sums: { prompt: zero(), completion: zero(), cached: zero(), reasoning: zero() },
    reported: 0,
    cost: 0,
    unpriced: 0,
    models: new Set(),
  };
}

/** A reason in few words: what the transport or the stop said, else a fault of form. */
export function category(error: string): string {
  return /^(HTTP_[0-9]{3}|network_error|invalid_chat_response|non_stop_finish|empty_final_answer|no_proof_steps)$/.test(
    error,
  )
    ? error
    : "format";
}

function addUsage(running: Running, reply: Reply, prices: Prices | undefined, free: boolean): void {
  const { usage } = reply;
  const add = (name: keyof Running["sums"], tokens: number | null | undefined): void => {
    if (typeof tokens === "number") running.sums[name].total += tokens;
    else running.sums[name].missing += 1;
  };
  add("prompt", usage?.prompt_tokens);
  add("completion", usage?.completion_tokens);
  add("cached", usage?.cached_tokens);
  add("reasoning", usage?.reasoning_tokens);
  const prompt = usage?.prompt_tokens ?? null;
  const completion = usage?.completion_tokens ?? null;
  if (prompt !== null && completion !== null) running.reported += 1;
  if (free) return;
  if (prompt === null || completion === null || prices === undefined || reply.attempts > 1) running.unpriced += 1;
  else {
    const cached = Math.min(usage?.cached_tokens ?? 0, prompt);
    const input = (prompt - cached) * prices.input + cached * (prices.cached_input ?? prices.input);
    running.cost += (input + completion * prices.output) / 1_000_000;
  }
}

function close(running: Running): RoleTally {
  const known = (name: keyof Running["sums"]): Known<number> => {
    const { total, missing } = running.sums[name];
    return missing === 0 ? total : unknown("missing", `${missing} of ${running.calls} replies do not report it`);
  };
  return {
    calls: running.calls,
    valid: running.valid,
    invalid: Object.fromEntries([...running.invalid].sort(([a], [b]) => (a < b ? -1 : 1))),
    transport_retries: running.retries,
    redacted: running.redacted,
    tokens: {
      prompt: known("prompt"),
      completion: known("completion"),
      cached: known("cached"),
      reasoning: known("reasoning"),
      reported: {
        calls: running.reported,
        prompt: running.sums.prompt.total,
        completion: running.sums.completion.total,
      },
    },
    cost_micro_usd:
      running.unpriced === 0
        ? Math.round(running.cost)
        : unknown(
            "unavailable",
            `${running.unpriced} of ${running.calls} calls have no price, no usage, or were repeated`,
          ),
    observed_models: [...running.models].sort(),
  };
}

/** Adds the costs of all roles. */
export function totalCost(roles: Partial<Record<Role, RoleTally>>): Known<number> {
  let total = 0;
  for (const tally of Object.values(roles)) {
    if (isUnknown(tally.cost_micro_usd)) return tally.cost_micro_usd;
    total += tally.cost_micro_usd;
  }
  return total;
}
