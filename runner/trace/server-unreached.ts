import type { TraceEvent } from "../base/formats/trace-events.ts";
import { pairMcpRequests } from "./mcp-calls.ts";
import type { ReadObject } from "./trace-bodies.ts";

/** How an agent failed to get the server's list of tools, in one sentence; null when it got one. */
export function serverUnreached(events: readonly TraceEvent[], readObject: ReadObject): string | null {
  const { requests } = pairMcpRequests(events, readObject);
  const listed = requests.filter(({ method }) => method === "tools/list");
  if (listed.some(({ outcome }) => outcome.kind === "result")) return null;
  const last = listed.at(-1) ?? requests.at(-1);
  const refused = events.findLast((event) => event.type === "mcp-refused");
  if (last === undefined) {
    return refused === undefined
      ? "the agent never asked the MCP server for anything"
      : `the agent's requests to the MCP server were refused: ${refused.reason}`;
  }
  const { method, outcome } = last;
  const words =
    "detail" in outcome ? outcome.detail : outcome.kind === "error" ? "it answered with an error" : "it answered";
  return `the agent got no list of tools from the MCP server: its last request was ${method}, and ${words}`;
}
