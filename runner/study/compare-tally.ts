import { isUnknown } from "../base/unknown.ts";
import type { ServerUseCounts, SideTally } from "./comparison.ts";
import { countOutcomes } from "./seal-run.ts";
import type { TrialRow } from "./trial-row.ts";

/** Counts where the trials of one side ended. */
export function tallyOf(rows: readonly TrialRow[]): SideTally {
  const outcomes = countOutcomes(rows);
  const scored = rows.filter(({ outcome }) => outcome === "scored");
  const solved = scored.filter(({ reward }) => reward === 1).length;
  const unsolved = scored.filter(({ reward }) => reward === 0).length;
  return {
    planned: rows.length,
    scored: scored.length,
    solved,
    partial: scored.length - solved - unsolved,
    unsolved,
    taskOrVerifier: outcomes.verifier_error + outcomes.invalid_task,
    condition: outcomes.invalid_condition,
    provider: outcomes.provider_error,
    infrastructure: outcomes.infra_error + outcomes.interrupted,
    outcomes,
    causes: count(rows.flatMap(({ cause }) => (cause === null ? [] : [cause]))),
    agentEnds: count(rows.map(({ agentEnd }) => agentEnd ?? "none")),
    submissions: count(rows.map(({ submission }) => (isUnknown(submission) ? "unknown" : submission))),
  };
}

/** How the scored treatment trials used the server, and whether own tools stood in for it. */
export function countUse(rows: readonly TrialRow[]): ServerUseCounts {
  const uses: string[] = [];
  const fallbacks: string[] = [];
  for (const { outcome, metrics } of rows) {
    if (outcome !== "scored") continue;
    const known = metrics === null || isUnknown(metrics) ? null : metrics;
    uses.push(known === null || isUnknown(known.use) ? "unknown" : known.use);
    fallbacks.push(known === null || isUnknown(known.fallback) ? "unknown" : known.fallback);
  }
  const of = (values: readonly string[], wanted: string): number => values.filter((value) => value === wanted).length;
  return {
    used: of(uses, "used"),
    attempted: of(uses, "attempted"),
    available_unused: of(uses, "unused"),
    unknown: of(uses, "unknown") + of(uses, "not-offered"),
    fallback: {
      none: of(fallbacks, "none"),
      instead: of(fallbacks, "instead"),
      beside: of(fallbacks, "beside"),
      unknown: of(fallbacks, "unknown"),
    },
  };
}

function count(values: readonly string[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
