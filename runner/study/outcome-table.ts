import Table from "cli-table3";
import { isUnknown, type Known } from "../base/unknown.ts";
import type { TraceMetrics } from "../trace/summarise.ts";
import type { Plan } from "./plan.ts";
import type { TrialRow } from "./trial-row.ts";

/**
 * The outcomes as a table, a line per trial: tasks by condition. When no model did the work, or its words were recorded or written
 * by hand, the table says so above and in every line.
 */
export function outcomeTable(plan: Plan, rows: readonly TrialRow[]): string {
  const table = new Table({
    head: [
      "task",
      "condition",
      "model",
      "reward",
      "outcome",
      "agent",
      "MCP calls valid/invalid",
      "tokens in/out",
      "agent seconds",
      "tool bytes seen",
    ],
    style: { head: [], border: [] },
  });
  const sorted = [...rows].sort(
    (a, b) => compare(a.task, b.task) || a.repetition - b.repetition || compare(a.condition, b.condition),
  );
  for (const row of sorted) {
    const { metrics } = row;
    const of = (read: (metrics: TraceMetrics) => Known<number>): string =>
      metrics === null ? "-" : show(isUnknown(metrics) ? metrics : read(metrics));
    const pair = (first: string, second: string): string => (first === "-" ? "-" : `${first}/${second}`);
    table.push([
      plan.repetitions > 1 ? `${row.task} #${row.repetition}` : row.task,
      row.condition,
      row.modelSource,
      row.reward === null ? "-" : String(row.reward),
      row.cause === null ? row.outcome : `${row.outcome} (${row.cause})`,
      row.agentEnd ?? "-",
      pair(
        of(({ mcp }) => mcp.valid),
        of(({ mcp }) => mcp.invalid),
      ),
      pair(
        of(({ model }) => model.tokens.input),
        of(({ model }) => model.tokens.output),
      ),
      isUnknown(row.agentMicros) ? show(row.agentMicros) : (row.agentMicros / 1e6).toFixed(1),
      of(({ view }) => view.visibleBytes),
    ]);
  }
  return `${caption(plan)}${table.toString()}\n`;
}

function caption(plan: Plan): string {
  switch (plan.model?.source) {
    case "scripted":
      return "SCRIPTED: a hand-written conversation stood in for the model. These outcomes show that the runner works; they are no model's achievement.\n";
    case "replayed":
      return "REPLAYED: a recorded conversation stood in for the model; nothing here was answered live.\n";
    default:
      return "";
  }
}

function show<T>(value: Known<T>): string {
  return isUnknown(value) ? `unknown (${value.unknown})` : String(value);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
