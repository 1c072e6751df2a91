import type { GatewayLimits } from "../../base/formats/gateway-config.ts";
import { at, textAt } from "../../base/formats/json-access.ts";
import { plainJson } from "../../base/formats/plain-json.ts";
import type { Surface } from "../../base/formats/surface.ts";
import type { SurveyRequest } from "../../base/formats/survey.ts";
import type { ExactJson, Json } from "../../base/json.ts";
import { listTools } from "./list-tools.ts";
import { McpClient, PreflightError } from "./mcp-client.ts";
import { readCatalog } from "./read-catalog.ts";

const PROTOCOL_VERSION = "2025-11-25";

export interface PreflightResult {
  readonly surface: Surface;
  readonly toolPages: readonly Buffer[];
}

/**
 * Looks at an MCP server as an agent would: initialize, every page of tools/list, and the catalog where one is named.
 * @throws PreflightError with the code of what went wrong.
 */
export async function preflight(
  mcp: SurveyRequest,
  limits: GatewayLimits,
  signal: AbortSignal,
): Promise<PreflightResult> {
  await using client = new McpClient({
    url: mcp.url,
    signal,
    timeoutMillis: limits.preflightMillis,
    maxBytes: limits.responseBytes,
  });
  const { result } = await client.call("initialize", {
    protocolVersion: PROTOCOL_VERSION,
    capabilities: {},
    clientInfo: { name: "jacobian-runner-preflight", version: "1" },
  });
  const protocolVersion = textAt(result, "protocolVersion");
  if (protocolVersion === undefined) throw new PreflightError("protocol-error", "initialize gave no protocol version");
  client.protocolVersion = protocolVersion;
  await client.notify("notifications/initialized");
  const { tools, pages } = await listTools(client, limits.preflightPages);
  const catalog = mcp.catalogUri === null ? null : await readCatalog(client, mcp.catalogUri, mcp.knownCatalog);
  const surface: Surface = {
    schemaVersion: "1",
    server: serverInfo(result),
    protocolVersion,
    capabilities: plainJson(at(result, "capabilities") ?? {}),
    instructions: textAt(result, "instructions") ?? null,
    tools,
    catalog,
  };
  return { surface, toolPages: pages };
}

function serverInfo(initialized: ExactJson): Surface["server"] {
  const info = at(initialized, "serverInfo");
  const name = textAt(info, "name");
  const version = textAt(info, "version");
  if (name === undefined || version === undefined) {
    throw new PreflightError("protocol-error", "initialize gave no name and version of the server");
  }
  return { ...(plainJson(info ?? {}) as { readonly [key: string]: Json }), name, version };
}
