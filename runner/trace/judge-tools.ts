import { judgeToolNames, type ToolExpectation } from "../base/formats/tool-naming.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";

export interface ToolsJudgement {
  /** `no-evidence`: no model request offered a tool, so nothing shows what the agent had. */
  readonly verdict: "as-expected" | "violated" | "no-evidence";
  /** One sentence per difference, with the exchange in which it was seen. */
  readonly problems: readonly string[];
  readonly requestsWithTools: number;
  /** Side requests that offered no tool, such as for a title; they prove nothing either way. */
  readonly requestsWithoutTools: number;
}

/**
 * Judges the condition from the tools that the agent's model requests offered, as the gateway recorded them: the first request that
 * offers tools and every later one. A problem that comes again is listed once.
 */
export function judgeToolsOffered(events: readonly TraceEvent[], expectation: ToolExpectation): ToolsJudgement {
  const offers = events.filter((event) => event.type === "tools-offered");
  const withTools = offers.filter(({ names }) => names.length > 0);
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const { exchange, names } of withTools) {
    const found = judgeToolNames(names, expectation);
    if (found.length === 0 && !sameNames(names, withTools[0]?.names ?? []))
      found.push(`offered are other tools than in ${withTools[0]?.exchange}: ${names.join(", ")}`);
    for (const problem of found) {
      if (seen.has(problem)) continue;
      seen.add(problem);
      problems.push(`${exchange}: ${problem}`);
    }
  }
  return {
    verdict: withTools.length === 0 ? "no-evidence" : problems.length > 0 ? "violated" : "as-expected",
    problems,
    requestsWithTools: withTools.length,
    requestsWithoutTools: offers.length - withTools.length,
  };
}

function sameNames(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((name) => b.includes(name));
}
