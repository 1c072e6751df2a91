import { judgeToolNames, type ToolExpectation } from "../base/formats/tool-naming.ts";
import type { TranscriptStartup } from "../base/formats/transcript.ts";

/** Holds what an agent's own start-up event says against the condition; one sentence per difference. */
export function judgeStartup(startup: TranscriptStartup, expectation: ToolExpectation): string[] {
  const { condition } = expectation;
  const { servers, tools } = startup;
  const problems: string[] = [];
  if (condition === "control" && servers.length > 0)
    problems.push(`it has the MCP servers ${servers.map(({ name }) => name).join(", ")}`);
  if (condition === "treatment" && servers.length !== 1) problems.push(`it has ${servers.length} MCP servers, not one`);
  for (const { name, status } of servers) {
    if (status !== "connected") problems.push(`its MCP server ${name} is ${status}`);
  }
  return [...problems, ...(tools.length === 0 ? [] : judgeToolNames(tools, expectation))];
}
