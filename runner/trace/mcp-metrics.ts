import { digestJson } from "../base/digest.ts";
import { plainJson } from "../base/formats/plain-json.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";
import { type CallFault, type FaultKind, faultOf } from "./call-fault.ts";
import type { McpTraffic, ToolCall } from "./mcp-calls.ts";

export interface McpMetrics {
  readonly calls: number;
  readonly valid: number;
  readonly invalid: number;
  readonly faults: Readonly<Record<FaultKind, number>>;
  readonly byTool: Readonly<Record<string, { readonly calls: number; readonly valid: number }>>;
  readonly late: number;
  readonly cancelled: number;
  readonly resourceReads: number;
  /** Refused by the gateway: every attempt in control, and calls beyond the budget. */
  readonly refused: number;
  /** Bytes of all HTTP bodies, both ways, without the preflight's. */
  readonly wireBytes: number;
  /** Time from each call to its answer, summed; calls that ran at once count each. */
  readonly toolMicros: number;
  /** Calls beyond the first with the same tool and arguments. */
  readonly repeatedCalls: number;
  /** Failed calls beyond the first with the same tool, arguments and error. */
  readonly repeatedErrors: number;
}

/** Counts over the MCP traffic of a trial. */
export function mcpMetrics(events: readonly TraceEvent[], traffic: McpTraffic, calls: readonly ToolCall[]): McpMetrics {
  const judged = calls.map((call) => ({ call, fault: faultOf(call.outcome) }));
  const faults = { "rpc-error": 0, "tool-error": 0, "embedded-error": 0, transport: 0, unanswered: 0 };
  const byTool = new Map<string, { calls: number; valid: number }>();
  for (const { call, fault } of judged) {
    const tool = byTool.get(call.tool) ?? { calls: 0, valid: 0 };
    byTool.set(call.tool, { calls: tool.calls + 1, valid: tool.valid + (fault === null ? 1 : 0) });
    if (fault !== null) faults[fault.kind] += 1;
  }
  const valid = judged.filter(({ fault }) => fault === null).length;
  return {
    calls: calls.length,
    valid,
    invalid: calls.length - valid,
    faults,
    byTool: Object.fromEntries([...byTool].sort(([a], [b]) => (a < b ? -1 : 1))),
    late: calls.filter(({ late }) => late).length,
    cancelled: calls.filter(({ cancelled }) => cancelled).length,
    resourceReads: traffic.requests.filter(({ method }) => method === "resources/read").length,
    refused: events.filter(({ type }) => type === "mcp-refused").length,
    wireBytes: events
      .filter((event) => event.type === "mcp-end")
      .reduce((sum, { toServer, toAgent }) => sum + toServer.bytes + toAgent.bytes, 0),
    toolMicros: calls.reduce((sum, { startedUs, endedUs }) => sum + endedUs - startedUs, 0),
    repeatedCalls: repeats(judged.map(({ call }) => callKey(call))),
    repeatedErrors: repeats(judged.flatMap(({ call, fault }) => (fault === null ? [] : [errorKey(call, fault)]))),
  };
}

function callKey({ tool, given }: ToolCall): string {
  return digestJson([tool, plainJson(given)]);
}

function errorKey(call: ToolCall, { kind, code, text }: CallFault): string {
  return digestJson([callKey(call), kind, code, plainJson(text)]);
}

function repeats(keys: readonly string[]): number {
  return keys.length - new Set(keys).size;
}
