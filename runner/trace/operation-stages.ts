import { at, listAt, textAt } from "../base/formats/json-access.ts";
import { faultOf, resultDocument } from "./call-fault.ts";
import type { ToolCall } from "./mcp-calls.ts";

/** How far the agent got with one operation of a find-and-run server: from a search hit to a completed run. */
export interface OperationStages {
  readonly operation: string;
  readonly found: boolean;
  readonly inspected: boolean;
  /** Runs that were tried, valid or not. */
  readonly runs: number;
  readonly completed: number;
}

/** The tools of such a server (Jacobian): one that finds operations and one that runs them. */
export const FIND_TOOL = "math.find";
export const RUN_TOOL = "math.run";

/** The operation that a run names; null for every other call. */
export function operationRun(call: ToolCall): string | null {
  return call.tool === RUN_TOOL ? (textAt(call.given, "operation_id") ?? null) : null;
}

/** The stages of every operation that the agent came across, in code-unit order of the operations. */
export function operationStages(calls: readonly ToolCall[]): OperationStages[] {
  const stages = new Map<string, { found: boolean; inspected: boolean; runs: number; completed: number }>();
  const stage = (operation: string) => {
    const known = stages.get(operation) ?? { found: false, inspected: false, runs: 0, completed: 0 };
    stages.set(operation, known);
    return known;
  };
  for (const call of calls) {
    const valid = faultOf(call.outcome) === null;
    const document = call.outcome.kind === "result" ? resultDocument(call.outcome.result) : undefined;
    if (call.tool === FIND_TOOL && valid) {
      const inspected = textAt(document, "operation", "operation_id");
      if (textAt(document, "kind") === "operation" && inspected !== undefined) stage(inspected).inspected = true;
      for (const match of listAt(document, "matches")) {
        const found = textAt(match, "operation_id");
        if (found !== undefined) stage(found).found = true;
      }
    }
    const run = operationRun(call);
    if (run === null) continue;
    stage(run).runs += 1;
    // A run counts as completed only when its result is that of the operation that was asked for.
    if (valid && textAt(document, "operation_id") === run && at(document, "output") !== undefined)
      stage(run).completed += 1;
  }
  return [...stages]
    .map(([operation, found]) => ({ operation, ...found }))
    .sort((a, b) => (a.operation < b.operation ? -1 : 1));
}
