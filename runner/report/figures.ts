/** How a figure is shown: base unit in data, people's unit in words. */
export type FigureUnit = "us" | "tokens" | "count" | "bytes" | "microUSD";

export interface FigureSpec {
  readonly label: string;
  readonly unit: FigureUnit;
  /** Name of the CSV column; ends in the unit. */
  readonly column: string;
}

/** The figures of one trial beside its reward, by the name that comparisons use, in the order of tables and columns. */
export const FIGURES = {
  "time.total": { label: "whole trial", unit: "us", column: "total_us" },
  "time.agent": { label: "agent time", unit: "us", column: "agent_us" },
  "time.model": { label: "time of model requests", unit: "us", column: "model_us" },
  "model.requests": { label: "model requests", unit: "count", column: "model_requests" },
  "tokens.input": { label: "input tokens", unit: "tokens", column: "input_tokens" },
  "tokens.cachedInput": { label: "input tokens from a cache", unit: "tokens", column: "cached_input_tokens" },
  "tokens.output": { label: "output tokens", unit: "tokens", column: "output_tokens" },
  "tokens.reasoning": { label: "reasoning tokens", unit: "tokens", column: "reasoning_tokens" },
  "model.cost": { label: "cost", unit: "microUSD", column: "cost_micro_usd" },
  "tools.own": { label: "own tool calls", unit: "count", column: "own_tool_calls" },
  "server.calls": { label: "server calls", unit: "count", column: "server_calls" },
  "server.valid": { label: "valid server calls", unit: "count", column: "server_calls_valid" },
  "server.invalid": { label: "invalid server calls", unit: "count", column: "server_calls_invalid" },
  "server.faults.rpc-error": { label: "invalid: rpc error", unit: "count", column: "server_calls_rpc_error" },
  "server.faults.tool-error": { label: "invalid: tool error", unit: "count", column: "server_calls_tool_error" },
  "server.faults.embedded-error": {
    label: "invalid: error inside a success",
    unit: "count",
    column: "server_calls_embedded_error",
  },
  "server.faults.transport": { label: "invalid: transport", unit: "count", column: "server_calls_transport_error" },
  "server.faults.unanswered": { label: "invalid: unanswered", unit: "count", column: "server_calls_unanswered" },
  "server.refused": { label: "calls refused by the gateway", unit: "count", column: "server_calls_refused" },
  "server.callsNotSent": { label: "calls written and not sent", unit: "count", column: "server_calls_not_sent" },
  "server.repeatedCalls": { label: "repeated identical calls", unit: "count", column: "server_calls_repeated" },
  "server.repeatedErrors": { label: "repeated identical errors", unit: "count", column: "server_errors_repeated" },
  "server.irrelevantCalls": {
    label: "runs of operations the task is not about",
    unit: "count",
    column: "server_calls_irrelevant",
  },
  "server.discovered": { label: "operations found or inspected", unit: "count", column: "operations_discovered" },
  "server.run": { label: "of these, operations run", unit: "count", column: "operations_run" },
  "server.completed": { label: "of these, operations completed", unit: "count", column: "operations_completed" },
  "server.checks": { label: "checks attempted", unit: "count", column: "checks" },
  "server.independentChecks": {
    label: "of these, checks of what another operation had produced",
    unit: "count",
    column: "checks_independent",
  },
  "server.visibleBytes": { label: "tool bytes seen by the model", unit: "bytes", column: "visible_tool_bytes" },
  "server.wireBytes": { label: "bytes to and from the server", unit: "bytes", column: "wire_bytes" },
  "server.toolMicros": { label: "server tool time", unit: "us", column: "server_tool_us" },
} as const satisfies Readonly<Record<string, FigureSpec>>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];
