import { isUnknown, type Known, sumKnown, unknown } from "../base/unknown.ts";
import { type KnownSummary, summariseKnown } from "../stats/known-summary.ts";
import type { PlannedPair } from "../stats/pairs.ts";
import type { SecondaryMetric } from "../stats/secondary.ts";
import type { OperationCheck } from "../trace/operation-checks.ts";
import type { TraceMetrics } from "../trace/summarise.ts";
import type { ComparedPair, MetricUnit, ServerLine } from "./comparison.ts";
import type { TrialRow } from "./trial-row.ts";

/** A figure of one trial, read from its derived row. */
export interface TrialMetric {
  readonly name: string;
  readonly label: string;
  readonly unit: MetricUnit;
  readonly read: (row: TrialRow) => Known<number>;
}

function traced(read: (metrics: TraceMetrics) => Known<number>): TrialMetric["read"] {
  return ({ metrics }) => {
    if (metrics === null) return unknown("unavailable", "no model drives this agent");
    return isUnknown(metrics) ? metrics : read(metrics);
  };
}

const part = <T>(value: Known<T>, read: (value: T) => number): Known<number> =>
  isUnknown(value) ? value : read(value);

/** Checks whose value came from another operation; one whose producer is not known makes the count unknown. */
function independentOf(checks: readonly OperationCheck[]): Known<number> {
  return sumKnown(checks.map(({ independent }) => (isUnknown(independent) ? independent : Number(independent))));
}

function metric(name: string, label: string, unit: MetricUnit, read: TrialMetric["read"]): TrialMetric {
  return { name, label, unit, read };
}

const TIMES: readonly TrialMetric[] = [
  metric("time.agent", "the agent's time", "us", ({ agentMicros }) => agentMicros),
  metric("time.total", "the trial's time", "us", ({ totalMicros }) => totalMicros),
];

/** Figures that both conditions have where a model drives the agent. */
const MODEL: readonly TrialMetric[] = [
  metric(
    "tokens.input",
    "input tokens",
    "tokens",
    traced(({ model }) => model.tokens.input),
  ),
  metric(
    "tokens.cachedInput",
    "input tokens from a cache",
    "tokens",
    traced(({ model }) => model.tokens.cachedInput),
  ),
  metric(
    "tokens.output",
    "output tokens",
    "tokens",
    traced(({ model }) => model.tokens.output),
  ),
  metric(
    "tokens.reasoning",
    "reasoning tokens",
    "tokens",
    traced(({ model }) => model.tokens.reasoning),
  ),
  metric(
    "model.requests",
    "model requests",
    "count",
    traced(({ model }) => model.requests),
  ),
  metric(
    "model.cost",
    "money spent",
    "microUSD",
    traced(({ model }) => model.costMicroUsd),
  ),
  metric(
    "time.model",
    "time of model requests",
    "us",
    traced(({ model }) => model.micros),
  ),
  metric(
    "tools.own",
    "calls of the agent's own tools",
    "count",
    traced(({ view }) => view.ownToolCalls),
  ),
];

/** Figures of the treatment's server. A control cannot have them, so a difference would only say that it is a control. */
export const SERVER_METRICS: readonly TrialMetric[] = [
  metric(
    "server.calls",
    "calls of the server's tools",
    "count",
    traced(({ mcp }) => mcp.calls),
  ),
  metric(
    "server.valid",
    "valid calls",
    "count",
    traced(({ mcp }) => mcp.valid),
  ),
  metric(
    "server.invalid",
    "invalid calls",
    "count",
    traced(({ mcp }) => mcp.invalid),
  ),
  ...(["rpc-error", "tool-error", "embedded-error", "transport", "unanswered"] as const).map((kind) =>
    metric(
      `server.faults.${kind}`,
      `invalid calls: ${kind.replace("-", " ")}`,
      "count",
      traced(({ mcp }) => part(mcp.faults, (faults) => faults[kind])),
    ),
  ),
  metric(
    "server.refused",
    "calls refused by the gateway",
    "count",
    traced(({ mcp }) => mcp.refused),
  ),
  metric(
    "server.repeatedCalls",
    "repeated identical calls",
    "count",
    traced(({ mcp }) => mcp.repeatedCalls),
  ),
  metric(
    "server.repeatedErrors",
    "repeated identical errors",
    "count",
    traced(({ mcp }) => mcp.repeatedErrors),
  ),
  metric(
    "server.irrelevantCalls",
    "runs of operations the task is not about",
    "count",
    traced((m) => m.irrelevantCalls),
  ),
  metric(
    "server.discovered",
    "operations found or inspected",
    "count",
    traced((m) => part(m.continuation, (c) => c.discovered)),
  ),
  metric(
    "server.run",
    "of these, operations run",
    "count",
    traced((m) => part(m.continuation, (c) => c.run)),
  ),
  metric(
    "server.completed",
    "of these, operations completed",
    "count",
    traced((m) => part(m.continuation, (c) => c.completed)),
  ),
  metric(
    "server.checks",
    "checks attempted",
    "count",
    traced((m) => part(m.checks, (checks) => checks.length)),
  ),
  metric(
    "server.independentChecks",
    "of these, checks of what another operation had produced",
    "count",
    traced((m) => (isUnknown(m.checks) ? m.checks : independentOf(m.checks))),
  ),
  metric(
    "server.callsNotSent",
    "calls written and not sent",
    "count",
    traced((m) => m.callsNotSent),
  ),
  metric(
    "server.visibleBytes",
    "bytes of results the model saw",
    "bytes",
    traced(({ view }) => view.visibleBytes),
  ),
  metric(
    "server.wireBytes",
    "bytes on the wire",
    "bytes",
    traced(({ mcp }) => mcp.wireBytes),
  ),
  metric(
    "server.toolMicros",
    "time of the server's tools",
    "us",
    traced(({ mcp }) => mcp.toolMicros),
  ),
];

/** The paired metrics beside the primary one: every other reward dimension that was seen, times, and the model's figures. */
export function pairedMetrics(rows: readonly TrialRow[], primaryKeys: ReadonlySet<string>): TrialMetric[] {
  const dimensions = new Set(rows.flatMap(({ rewards }) => Object.keys(rewards ?? {})));
  const rewards = [...dimensions]
    .filter((name) => !primaryKeys.has(name))
    .sort()
    .map((name) =>
      metric(`reward.${name}`, `reward: ${name}`, "score", (row) => {
        const value = row.rewards !== null && Object.hasOwn(row.rewards, name) ? row.rewards[name] : undefined;
        return value ?? unknown("missing", "the verifier did not give it");
      }),
    );
  const driven = rows.some(({ metrics }) => metrics !== null);
  return [...rewards, ...TIMES, ...(driven ? MODEL : [])];
}

/** The value of a metric in a trial; an unscored trial's figures are of another work and enter nothing. */
export function figureOf(row: TrialRow, { read }: Pick<TrialMetric, "read">): Known<number> {
  return row.outcome === "scored" ? read(row) : unknown("unavailable", `the trial is ${row.outcome}`);
}

/** The pairs of one metric as the statistics take them. */
export function secondaryMetric(metric: TrialMetric, pairs: readonly ComparedPair[]): SecondaryMetric {
  const of = (values: ComparedPair["control"]["values"]): Known<number> => values[metric.name] ?? unknown("missing");
  const planned: PlannedPair[] = pairs.map(({ task, repetition, control, treatment }) => ({
    task,
    repetition,
    control: of(control.values),
    treatment: of(treatment.values),
  }));
  const known = planned.flatMap(({ control, treatment }) =>
    [control, treatment].filter((value): value is number => !isUnknown(value)),
  );
  const score = metric.unit === "score" && known.every((value) => value >= 0 && value <= 1);
  return { name: metric.name, scale: score ? "score" : "amount", pairs: planned };
}

/** A server metric over the scored treatment trials. */
export function serverLine({ name, label, unit, read }: TrialMetric, rows: readonly TrialRow[]): ServerLine {
  const summary: KnownSummary = summariseKnown(rows.filter(({ outcome }) => outcome === "scored").map(read));
  return { name, label, unit, ...summary };
}
