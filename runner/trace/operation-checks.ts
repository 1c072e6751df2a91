import { at } from "../base/formats/json-access.ts";
import { printExact } from "../base/formats/plain-json.ts";
import type { ExactJson } from "../base/json.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { faultOf, resultDocument } from "./call-fault.ts";
import type { ToolCall } from "./mcp-calls.ts";
import { operationRun } from "./operation-stages.ts";

/** A check that the agent attempted, and whether something other than the checker had produced what it checks. */
export interface OperationCheck {
  readonly checker: string;
  readonly completed: boolean;
  /** Operations whose results went into the check. */
  readonly producers: readonly string[];
  /** False for an operation that certifies its own result; unknown when the checked value has no producer in the trace. */
  readonly independent: Known<boolean>;
}

const CHECKER = /(?:^|[._-])(?:check|verify|verified|validate|decide_equal|certify)(?:$|[._-])/;
const SELF_CERTIFYING = /(?:^|[._-])(?:certified|certificate)(?:$|[._-])/;

/** Parts of a result shorter than this occur by chance and bind nothing. */
const MIN_PART_CHARS = 12;

/** The checks among some calls. An operation is known as a checker by the words of its id. */
export function operationChecks(calls: readonly ToolCall[]): OperationCheck[] {
  const checks: OperationCheck[] = [];
  const produced: { readonly operation: string; readonly parts: ReadonlySet<string> }[] = [];
  for (const call of calls) {
    const operation = operationRun(call);
    if (operation === null) continue;
    const completed = faultOf(call.outcome) === null;
    if (CHECKER.test(operation)) {
      const parts = partsOf(at(call.given, "payload"));
      const producers = [
        ...new Set(produced.filter((made) => intersects(made.parts, parts)).map((made) => made.operation)),
      ];
      const independent: Known<boolean> =
        producers.length > 0
          ? producers.every((producer) => producer !== operation)
          : unknown("unavailable", "nothing that the trace saw produced goes into this check");
      checks.push({ checker: operation, completed, producers, independent });
    } else if (SELF_CERTIFYING.test(operation)) {
      checks.push({ checker: operation, completed, producers: [operation], independent: false });
    }
    if (completed && call.outcome.kind === "result") {
      produced.push({ operation, parts: partsOf(at(resultDocument(call.outcome.result), "output")) });
    }
  }
  return checks;
}

/** The composite values and longer texts inside a value, as JSON text. */
function partsOf(value: ExactJson | undefined): Set<string> {
  const parts = new Set<string>();
  const walk = (current: ExactJson | undefined) => {
    if (current === undefined || current === null) return;
    if (typeof current === "object" || typeof current === "string") {
      const text = printExact(current);
      if (text.length >= MIN_PART_CHARS) parts.add(text);
    }
    if (typeof current === "object") for (const member of Object.values(current)) walk(member as ExactJson);
  };
  walk(value);
  return parts;
}

function intersects(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  for (const part of a) if (b.has(part)) return true;
  return false;
}
