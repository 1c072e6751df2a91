import type { ModelSource } from "../base/formats/common.ts";
import type { ToolNaming } from "../base/formats/tool-naming.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";
import { isUnknown, type Known, type Unknown, unknown } from "../base/unknown.ts";
import { modelExchanges } from "./conversation.ts";
import { type LastAnswer, lastAnswer } from "./last-answer.ts";
import { pairMcpRequests, toolCallsOf } from "./mcp-calls.ts";
import { type McpMetrics, mcpMetrics } from "./mcp-metrics.ts";
import { type ModelMetrics, modelMetrics } from "./model-metrics.ts";
import { type ModelView, modelView } from "./model-view.ts";
import { type OperationCheck, operationChecks } from "./operation-checks.ts";
import { FIND_TOOL, type OperationStages, operationRun, operationStages, RUN_TOOL } from "./operation-stages.ts";
import type { Trace } from "./read-trace.ts";
import type { ReadObject } from "./trace-bodies.ts";

export interface SummariseInput {
  readonly trace: Trace;
  readonly readObject: ReadObject;
  /** How the agent shows the server's tools to its model. */
  readonly naming: ToolNaming;
  /** The tools of the study's MCP server; empty in a study without one. */
  readonly serverTools: readonly string[];
  /** Operations that the task is about; null when it does not say. */
  readonly expectedOperations: readonly string[] | null;
}

/** Every member known, or unknown with its reason. */
type AllKnown<T> = { readonly [K in keyof T]: Known<T[K] extends Known<infer V> ? V : T[K]> };

/** Whether the agent used the server's tools: none were there, none was called, none of the calls was valid, or some were. */
export type ServerUse = "not-offered" | "unused" | "attempted" | "used";

export interface TraceMetrics {
  readonly modelSource: Known<ModelSource | null>;
  readonly model: AllKnown<Omit<ModelMetrics, "tokens">> & { readonly tokens: AllKnown<ModelMetrics["tokens"]> };
  readonly mcp: AllKnown<McpMetrics>;
  readonly view: AllKnown<ModelView>;
  readonly use: Known<ServerUse>;
  /** Own tools were used in a trial that had the server's: instead of them, beside them, or not at all. */
  readonly fallback: Known<"none" | "instead" | "beside">;
  readonly operations: Known<readonly OperationStages[]>;
  /** Operations that were found or inspected, and those of them that were run and completed. */
  readonly continuation: Known<{ readonly discovered: number; readonly run: number; readonly completed: number }>;
  /** Runs of operations that the task is not about. */
  readonly irrelevantCalls: Known<number>;
  readonly checks: Known<readonly OperationCheck[]>;
  /** How the model's last answer ended. */
  readonly lastAnswer: Known<LastAnswer>;
  /** Calls that the model wrote less calls that reached the server: what the agent held back, or lost. */
  readonly callsNotSent: Known<number>;
}

/** Derives a trial's metrics from its trace. A trace that does not reach its end supports no count: every figure is then unknown. */
export function summariseTrace(input: SummariseInput): TraceMetrics {
  const { trace, readObject, naming, serverTools, expectedOperations } = input;
  const { events } = trace;
  const exchanges = modelExchanges(events, readObject);
  const traffic = pairMcpRequests(events, readObject);
  const calls = toolCallsOf(traffic.requests);
  const start = events.find((event) => event.type === "start");
  const truncated = trace.complete ? null : unknown("truncated", trace.problem ?? "the trace is not complete");
  const unreadable =
    truncated ??
    (traffic.unreadable.length === 0
      ? null
      : unknown("unavailable", `frames that cannot be read: ${traffic.unreadable.join("; ")}`));

  const { tokens, ...model } = modelMetrics(events, exchanges);
  const mcp = allKnown(mcpMetrics(events, traffic, calls), unreadable);
  const view = allKnown(modelView(exchanges, serverTools, naming), truncated);
  const hasServer = start?.mcpUrl != null;
  const finds = serverTools.includes(FIND_TOOL) && serverTools.includes(RUN_TOOL);
  const noOperations = finds ? unreadable : unknown("unavailable", "the server has no operations to find and run");
  const stages = noOperations ?? operationStages(calls);
  return {
    modelSource: truncated ?? start?.model?.source ?? null,
    model: { ...allKnown(model, truncated), tokens: allKnown(tokens, truncated) },
    mcp,
    view,
    use: unreadable ?? useOf(hasServer, calls.length, mcp.valid),
    fallback: fallbackOf(hasServer, mcp.calls, view.ownToolCalls),
    operations: stages,
    continuation: isUnknown(stages) ? stages : continuationOf(stages),
    irrelevantCalls:
      noOperations ??
      (expectedOperations === null
        ? unknown("unavailable", "the task does not say which operations it is about")
        : calls.map(operationRun).filter((run) => run !== null && !expectedOperations.includes(run)).length),
    checks: noOperations ?? operationChecks(calls),
    lastAnswer: truncated ?? lastAnswer(exchanges, offering(events)),
    callsNotSent: difference(view.serverToolCalls, mcp.calls),
  };
}

/** The exchanges whose requests offered tools. */
export function offering(events: readonly TraceEvent[]): ReadonlySet<string> {
  return new Set(
    events.flatMap((event) => (event.type === "tools-offered" && event.names.length > 0 ? [event.exchange] : [])),
  );
}

function allKnown<T extends object>(metrics: T, reason: Unknown | null): AllKnown<T> {
  if (reason === null) return metrics as AllKnown<T>;
  return Object.fromEntries(Object.keys(metrics).map((key) => [key, reason])) as AllKnown<T>;
}

function useOf(hasServer: boolean, calls: number, valid: Known<number>): Known<ServerUse> {
  if (!hasServer) return "not-offered";
  if (calls === 0) return "unused";
  if (isUnknown(valid)) return valid;
  return valid === 0 ? "attempted" : "used";
}

function fallbackOf(hasServer: boolean, calls: Known<number>, own: Known<number>): TraceMetrics["fallback"] {
  if (!hasServer) return unknown("unavailable", "there is no server to fall back from");
  if (isUnknown(calls)) return calls;
  if (isUnknown(own)) return own;
  if (own === 0) return "none";
  return calls === 0 ? "instead" : "beside";
}

function continuationOf(stages: readonly OperationStages[]) {
  const discovered = stages.filter(({ found, inspected }) => found || inspected);
  return {
    discovered: discovered.length,
    run: discovered.filter(({ runs }) => runs > 0).length,
    completed: discovered.filter(({ completed }) => completed > 0).length,
  };
}

function difference(a: Known<number>, b: Known<number>): Known<number> {
  if (isUnknown(a)) return a;
  return isUnknown(b) ? b : a - b;
}
