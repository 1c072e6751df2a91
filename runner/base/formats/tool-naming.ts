import { z } from "zod";
import type { Condition } from "./common.ts";

/**
 * How an agent presents an MCP server's tools to its model. `prefix` comes before the tool's name; with `sanitise` every character
 * outside `A-Z a-z 0-9 _ -` becomes `_`. `own` lists the agent's own tools; null when it cannot be listed beforehand. `withServer` lists
 * those that it has beside an MCP server only, such as for reading the server's resources.
 * A tool inside a Responses namespace counts as `<namespace>__<tool>`.
 */
export const toolNamingSchema = z.strictObject({
  prefix: z.string(),
  sanitise: z.boolean(),
  own: z.array(z.string()).nullable(),
  withServer: z.array(z.string()).exactOptional(),
});
export type ToolNaming = z.infer<typeof toolNamingSchema>;

/** The name under which the model sees an MCP tool. */
export function nameForModel(tool: string, naming: ToolNaming): string {
  return naming.prefix + (naming.sanitise ? sanitiseToolName(tool) : tool);
}

/** Makes a tool name acceptable to every model API. */
export function sanitiseToolName(name: string): string {
  return name.replace(/[^A-Za-z0-9_-]/g, "_");
}

export interface ToolExpectation {
  readonly condition: Condition;
  /** The names of the study's MCP server's tools; in control, those that must not be seen. */
  readonly serverTools: readonly string[];
  readonly naming: ToolNaming;
}

/**
 * Judges the tools of one model request that offers at least one. In the treatment exactly the server's tools must be there beside the
 * agent's own; in control none of them, under any spelling. Returns one sentence per difference; an empty list means as it should be.
 */
export function judgeToolNames(offered: readonly string[], expectation: ToolExpectation): string[] {
  const { condition, serverTools, naming } = expectation;
  const expected = new Set(condition === "treatment" ? serverTools.map((tool) => nameForModel(tool, naming)) : []);
  const forbidden = new Set(condition === "control" ? serverTools.flatMap((tool) => spellings(tool, naming)) : []);
  const beside = condition === "treatment" ? (naming.withServer ?? []) : [];
  const own = naming.own === null ? null : new Set([...naming.own, ...beside]);
  const problems: string[] = [];
  for (const name of expected) if (!offered.includes(name)) problems.push(`the server's tool ${name} was not offered`);
  const seen = new Set<string>();
  const strange: string[] = [];
  for (const name of offered) {
    if (seen.has(name)) problems.push(`${name} was offered twice`);
    seen.add(name);
    if (expected.has(name) || own?.has(name)) continue;
    if (forbidden.has(name)) problems.push(`${name} is a tool of the MCP server, which control must not have`);
    else if (own !== null) strange.push(name);
    else if (looksLikeMcp(name, naming))
      problems.push(`${name} is a tool of an MCP server that the study does not name`);
  }
  if (strange.length === 1) problems.push(`${strange[0]} is neither the agent's own tool nor the study's`);
  else if (strange.length > 1) problems.push(`${strange.join(", ")} are neither the agent's own tools nor the study's`);
  return problems;
}

function spellings(tool: string, naming: ToolNaming): string[] {
  return [tool, sanitiseToolName(tool), nameForModel(tool, naming)];
}

function looksLikeMcp(name: string, naming: ToolNaming): boolean {
  return name.startsWith("mcp__") || (naming.prefix !== "" && name.startsWith(naming.prefix));
}
