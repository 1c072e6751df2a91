import { at, textAt } from "../base/formats/json-access.ts";
import { type McpMessage, readMcpFrame } from "../base/formats/mcp-messages.ts";
import { printExact } from "../base/formats/plain-json.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";
import type { ExactJson } from "../base/json.ts";
import { isUnknown } from "../base/unknown.ts";
import { bodyBytes, type ReadObject } from "./trace-bodies.ts";

/** How a request to the MCP server was answered. */
export type McpOutcome =
  | { readonly kind: "result"; readonly result: ExactJson }
  | { readonly kind: "error"; readonly error: ExactJson }
  /** The HTTP exchange failed: a status of 400 or more, or a server that was not reached. */
  | { readonly kind: "transport"; readonly detail: string }
  /** The exchange ended, or was cut, without an answer to this request. */
  | { readonly kind: "unanswered"; readonly detail: string };

/** One JSON-RPC request of the agent and what became of it. */
export interface McpRequest {
  readonly exchange: string;
  readonly method: string;
  readonly params: ExactJson | undefined;
  readonly outcome: McpOutcome;
  readonly startedUs: number;
  /** When the answer's frame had come; the end of the exchange when none came. */
  readonly endedUs: number;
  /** The agent had cancelled it before the answer came. */
  readonly late: boolean;
  readonly cancelled: boolean;
}

interface OpenRequest {
  readonly exchange: string;
  readonly id: string;
  readonly method: string;
  readonly params: ExactJson | undefined;
  readonly startedUs: number;
  cancelled: boolean;
}

export interface McpTraffic {
  readonly requests: readonly McpRequest[];
  /** Frames whose bytes are missing or are no JSON-RPC; whatever they carried is not in `requests`. */
  readonly unreadable: readonly string[];
}

/** Pairs the agent's requests to the MCP server with their answers, from the frames as they passed. */
export function pairMcpRequests(events: readonly TraceEvent[], readObject: ReadObject): McpTraffic {
  const open = new Map<string, OpenRequest>();
  const requests: McpRequest[] = [];
  const problems: { readonly exchange: string; readonly problem: string }[] = [];
  const statuses = new Map<string, number>();
  const close = (request: OpenRequest, outcome: McpOutcome, endedUs: number, late = false) => {
    open.delete(request.id);
    const { exchange, method, params, startedUs, cancelled } = request;
    requests.push({ exchange, method, params, outcome, startedUs, endedUs, late, cancelled });
  };
  for (const event of events) {
    if (event.type === "mcp-response") statuses.set(event.exchange, event.status);
    if (event.type === "mcp-frame") {
      const bytes = bodyBytes(event.body, readObject);
      const frame = isUnknown(bytes)
        ? { messages: [], problem: bytes.detail ?? bytes.unknown }
        : readMcpFrame(bytes, event.form);
      if (frame.problem !== null) problems.push({ exchange: event.exchange, problem: frame.problem });
      for (const message of frame.messages) {
        if (event.to === "server") take(message, event.exchange, event.us, open, close);
        else answer(message, event.us, event.late, open, close);
      }
    }
    if (event.type === "mcp-end") {
      for (const request of [...open.values()].filter(({ exchange }) => exchange === event.exchange)) {
        close(request, outcomeOfEnd(event, statuses.get(event.exchange)), event.us);
      }
    }
  }
  const lastUs = events.at(-1)?.us ?? 0;
  for (const request of [...open.values()])
    close(request, { kind: "unanswered", detail: "the trace ends before" }, lastUs);
  requests.sort((a, b) => a.startedUs - b.startedUs);
  // The bodies of a refused exchange need not be JSON-RPC; its status says what happened.
  const unreadable = problems
    .filter(({ exchange }) => (statuses.get(exchange) ?? 0) < 400)
    .map(({ exchange, problem }) => `${exchange}: ${problem}`);
  return { requests, unreadable };
}

type Close = (request: OpenRequest, outcome: McpOutcome, endedUs: number, late?: boolean) => void;

function take(message: McpMessage, exchange: string, us: number, open: Map<string, OpenRequest>, close: Close): void {
  if (message.kind === "request") {
    const before = open.get(message.id);
    if (before !== undefined) close(before, { kind: "unanswered", detail: "its id was used again" }, us);
    const { id, method, params } = message;
    open.set(id, { exchange, id, method, params, startedUs: us, cancelled: false });
  } else if (message.kind === "notification" && message.method === "notifications/cancelled") {
    const id = at(message.params, "requestId");
    const request = id === undefined ? undefined : open.get(printExact(id));
    if (request !== undefined) request.cancelled = true;
  }
}

function answer(message: McpMessage, us: number, late: boolean, open: Map<string, OpenRequest>, close: Close): void {
  if (message.kind !== "result" && message.kind !== "error") return;
  const request = message.id === null ? undefined : open.get(message.id);
  if (request === undefined) return;
  const outcome: McpOutcome =
    message.kind === "result" ? { kind: "result", result: message.result } : { kind: "error", error: message.error };
  close(request, outcome, us, late);
}

function outcomeOfEnd(end: Extract<TraceEvent, { type: "mcp-end" }>, status: number | undefined): McpOutcome {
  if (end.ended === "upstream-failed") return { kind: "transport", detail: end.detail ?? "the server was not reached" };
  if (status !== undefined && status >= 400) return { kind: "transport", detail: `HTTP ${status}` };
  return { kind: "unanswered", detail: end.ended === "complete" ? "the stream ended" : end.ended };
}

/** A `tools/call` request, with its tool and arguments. */
export interface ToolCall extends McpRequest {
  readonly tool: string;
  readonly given: ExactJson;
}

export function toolCallsOf(requests: readonly McpRequest[]): ToolCall[] {
  return requests
    .filter(({ method }) => method === "tools/call")
    .map((request) => ({
      ...request,
      tool: textAt(request.params, "name") ?? "?",
      given: at(request.params, "arguments") ?? {},
    }));
}
