/** How a figure is shown: base unit in data, people's unit in words. */
export type FigureUnit = "us" | "tokens" | "count" | "bytes" | "microUSD";

interface FigureSpec {
  readonly label: string;
  readonly unit: FigureUnit;
  /** Name of the CSV column; ends in the unit. */
  readonly column: string;
}

/** The figures of one trial beside its reward, in the order of tables and columns. */
export const FIGURES = {
  totalMicros: { label: "whole trial", unit: "us", column: "total_us" },
  agentMicros: { label: "agent time", unit: "us", column: "agent_us" },
  modelRequests: { label: "model requests", unit: "count", column: "model_requests" },
  inputTokens: { label: "input tokens", unit: "tokens", column: "input_tokens" },
  outputTokens: { label: "output tokens", unit: "tokens", column: "output_tokens" },
  costMicroUsd: { label: "cost", unit: "microUSD", column: "cost_micro_usd" },
  validCalls: { label: "valid server calls", unit: "count", column: "server_calls_valid" },
  invalidCalls: { label: "invalid server calls", unit: "count", column: "server_calls_invalid" },
  refusedCalls: { label: "refused server calls", unit: "count", column: "server_calls_refused" },
  ownToolCalls: { label: "own tool calls", unit: "count", column: "own_tool_calls" },
  toolMicros: { label: "server tool time", unit: "us", column: "server_tool_us" },
  visibleBytes: { label: "tool bytes seen by the model", unit: "bytes", column: "visible_tool_bytes" },
  wireBytes: { label: "bytes to and from the server", unit: "bytes", column: "wire_bytes" },
} as const satisfies Readonly<Record<string, FigureSpec>>;

export type FigureName = keyof typeof FIGURES;
export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[];
