import type { AgentCheck, CaseFacts } from "./check-agent.ts";

/** What differs between two checks of one agent, one line each with the conversations that show it; an empty list when nothing does. */
export function compareChecks(before: AgentCheck, after: AgentCheck): string[] {
  const shown = new Map<string, string[]>();
  for (const now of after.cases) {
    const then = before.cases.find(({ name }) => name === now.name);
    if (then === undefined) continue;
    for (const line of compareCase(then, now)) shown.set(line, [...(shown.get(line) ?? []), now.name]);
  }
  return [...shown].map(([line, names]) => `${names.join(", ")}: ${line}`);
}

function compareCase(then: CaseFacts, now: CaseFacts): string[] {
  const value = (what: string, a: string | number | null, b: string | number | null): string[] =>
    a === b ? [] : [`${what} was ${a ?? "none"}, is ${b ?? "none"}`];
  const list = (what: string, a: readonly string[], b: readonly string[]): string[] => {
    const gone = a.filter((item) => !b.includes(item));
    const added = b.filter((item) => !a.includes(item));
    return [
      ...(gone.length === 0 ? [] : [`${what} gone: ${gone.join(", ")}`]),
      ...(added.length === 0 ? [] : [`${what} new: ${added.join(", ")}`]),
    ];
  };
  return [
    ...value("outcome", then.outcome, now.outcome),
    ...value("detail", then.detail, now.detail),
    ...list("tools", then.tools.flat(), now.tools.flat()),
    ...value("requests without tools", then.requestsWithoutTools, now.requestsWithoutTools),
    ...list("events", then.events, now.events),
    ...list("hosts", then.hosts, now.hosts),
  ];
}
