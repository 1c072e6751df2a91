import type { AgentCheck, CaseFacts } from "./check-agent.ts";

/** What differs between two checks of one agent, one line each; an empty list when nothing does. */
export function compareChecks(before: AgentCheck, after: AgentCheck): string[] {
  return after.cases.flatMap((now) => {
    const then = before.cases.find(({ name }) => name === now.name);
    return then === undefined ? [] : compareCase(then, now).map((line) => `${now.name}: ${line}`);
  });
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
