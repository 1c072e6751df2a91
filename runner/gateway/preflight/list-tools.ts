import { at, listAt, textAt } from "../../base/formats/json-access.ts";
import { plainJson } from "../../base/formats/plain-json.ts";
import type { Surface } from "../../base/formats/surface.ts";
import type { Json } from "../../base/json.ts";
import { type McpClient, PreflightError } from "./mcp-client.ts";

export interface ToolListing {
  /** Sorted by name, in code units. */
  readonly tools: Surface["tools"];
  readonly pages: readonly Buffer[];
}

/**
 * Reads tools/list to its last page. An empty cursor is a cursor; one that comes again, or more pages than allowed, is an endless listing.
 * Schemas are taken as they are.
 */
export async function listTools(client: McpClient, maxPages: number): Promise<ToolListing> {
  const tools = new Map<string, Surface["tools"][number]>();
  const pages: Buffer[] = [];
  const cursors = new Set<string>();
  let cursor: string | undefined;
  do {
    if (pages.length >= maxPages)
      throw new PreflightError("endless-paging", `tools/list has more than ${maxPages} pages`);
    const { result, raw } = await client.call("tools/list", cursor === undefined ? {} : { cursor });
    pages.push(raw);
    if (!Array.isArray(at(result, "tools")))
      throw new PreflightError("protocol-error", "tools/list gave no list of tools");
    for (const tool of listAt(result, "tools")) {
      const name = textAt(tool, "name");
      if (name === undefined) throw new PreflightError("protocol-error", "tools/list gave a tool without a name");
      if (tools.has(name)) throw new PreflightError("protocol-error", `tools/list gave ${JSON.stringify(name)} twice`);
      tools.set(name, { ...(plainJson(tool) as { readonly [key: string]: Json }), name });
    }
    cursor = textAt(result, "nextCursor");
    if (cursor !== undefined && cursors.has(cursor)) {
      throw new PreflightError("endless-paging", `tools/list gave the cursor ${JSON.stringify(cursor)} twice`);
    }
    if (cursor !== undefined) cursors.add(cursor);
  } while (cursor !== undefined);
  return { tools: [...tools.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), pages };
}
