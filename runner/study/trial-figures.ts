import { isUnknown, type Known, sumKnown, unknown } from "../base/unknown.ts";
import type { FigureName } from "../report/figures.ts";
import type { OperationCheck } from "../trace/operation-checks.ts";
import type { TraceMetrics } from "../trace/summarise.ts";
import type { TrialRow } from "./trial-row.ts";

type ReadFigure = (row: TrialRow) => Known<number>;

function traced(read: (metrics: TraceMetrics) => Known<number>): ReadFigure {
  return ({ metrics }) => {
    if (metrics === null) return unknown("unavailable", "no model drives this agent");
    return isUnknown(metrics) ? metrics : read(metrics);
  };
}

const part = <T>(value: Known<T>, read: (value: T) => number): Known<number> =>
  isUnknown(value) ? value : read(value);

/** Checks whose value came from another operation; one whose producer is not known makes the count unknown. */
function independentOf(checks: readonly OperationCheck[]): Known<number> {
  return sumKnown(checks.map(({ independent }) => (isUnknown(independent) ? independent : Number(independent))));
}

/** Where each figure of a trial stands in its derived row. */
export const READ_FIGURE: Readonly<Record<FigureName, ReadFigure>> = {
  "time.total": ({ totalMicros }) => totalMicros,
  "time.agent": ({ agentMicros }) => agentMicros,
  "time.model": traced(({ model }) => model.micros),
  "model.requests": traced(({ model }) => model.requests),
  "tokens.input": traced(({ model }) => model.tokens.input),
  "tokens.cachedInput": traced(({ model }) => model.tokens.cachedInput),
  "tokens.output": traced(({ model }) => model.tokens.output),
  "tokens.reasoning": traced(({ model }) => model.tokens.reasoning),
  "model.cost": traced(({ model }) => model.costMicroUsd),
  "tools.own": traced(({ view }) => view.ownToolCalls),
  "server.calls": traced(({ mcp }) => mcp.calls),
  "server.valid": traced(({ mcp }) => mcp.valid),
  "server.invalid": traced(({ mcp }) => mcp.invalid),
  "server.faults.rpc-error": traced(({ mcp }) => part(mcp.faults, (faults) => faults["rpc-error"])),
  "server.faults.tool-error": traced(({ mcp }) => part(mcp.faults, (faults) => faults["tool-error"])),
  "server.faults.embedded-error": traced(({ mcp }) => part(mcp.faults, (faults) => faults["embedded-error"])),
  "server.faults.transport": traced(({ mcp }) => part(mcp.faults, (faults) => faults.transport)),
  "server.faults.unanswered": traced(({ mcp }) => part(mcp.faults, (faults) => faults.unanswered)),
  "server.refused": traced(({ mcp }) => mcp.refused),
  "server.callsNotSent": traced(({ callsNotSent }) => callsNotSent),
  "server.repeatedCalls": traced(({ mcp }) => mcp.repeatedCalls),
  "server.repeatedErrors": traced(({ mcp }) => mcp.repeatedErrors),
  "server.irrelevantCalls": traced(({ irrelevantCalls }) => irrelevantCalls),
  "server.discovered": traced(({ continuation }) => part(continuation, ({ discovered }) => discovered)),
  "server.run": traced(({ continuation }) => part(continuation, ({ run }) => run)),
  "server.completed": traced(({ continuation }) => part(continuation, ({ completed }) => completed)),
  "server.checks": traced(({ checks }) => part(checks, ({ length }) => length)),
  "server.independentChecks": traced(({ checks }) => (isUnknown(checks) ? checks : independentOf(checks))),
  "server.visibleBytes": traced(({ view }) => view.visibleBytes),
  "server.wireBytes": traced(({ mcp }) => mcp.wireBytes),
  "server.toolMicros": traced(({ mcp }) => mcp.toolMicros),
};
