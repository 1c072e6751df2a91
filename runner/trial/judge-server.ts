import type { Draft } from "./context.ts";
import type { GatewaySet } from "./gateway-set.ts";

/**
 * What a dead server makes of a trial: a treatment whose server has died is none, whatever the agent made of it, and that it died says
 * more than what the agent then lacked. A failure that is not the condition's keeps its cause.
 */
export async function judgeServer(
  server: GatewaySet["mcp"],
  failure: Draft["failure"],
  signal: AbortSignal,
): Promise<Draft["failure"]> {
  if (server === null || (failure !== null && failure.outcome !== "invalid_condition")) return failure;
  const state = await server.container.state({ signal });
  if (state.running) return failure;
  const ended = `ended with exit code ${state.exitCode ?? "unknown"}${state.oomKilled ? ", out of memory" : ""}`;
  const detail = `the MCP server ${ended} before the trial did: ${server.lastWords() || "it printed nothing"}`;
  return { outcome: "invalid_condition", cause: { code: "MCP_SERVER_DIED", detail } };
}
