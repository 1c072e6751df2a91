import type { ExactJson } from "../json.ts";
import type { Condition, ModelApi } from "./common.ts";
import { at, textAt } from "./json-access.ts";
import { printExact } from "./plain-json.ts";

/** What the requests of a trial's agent must carry beside their tools. */
export interface SettingsExpectation {
  readonly condition: Condition;
  /** The study's word for reasoning effort; null leaves it to the agent. */
  readonly reasoningEffort: string | null;
}

/** How a request differs from the condition: in what its model could use, or in how hard it is asked to think. */
export interface Violation {
  readonly kind: "tools" | "effort";
  readonly detail: string;
}

/** Judges a model request that offers tools; side requests, such as for a title, may carry other settings. */
export function judgeSettings(
  api: ModelApi,
  body: ExactJson,
  { condition, reasoningEffort: named }: SettingsExpectation,
): Violation[] {
  const choice = condition === "treatment" ? choiceProblem(body) : null;
  const effort = named === null ? null : effortProblem(api, body, named);
  return [
    ...(choice === null ? [] : [{ kind: "tools", detail: choice } as const]),
    ...(effort === null ? [] : [{ kind: "effort", detail: effort } as const]),
  ];
}

/** Words, and types of an object in their place, that leave the model every tool. */
const FREE_CHOICES: readonly (string | undefined)[] = ["auto", "any", "required"];

/** A tool that is offered and must not be chosen is none. */
function choiceProblem(body: ExactJson): string | null {
  const choice = at(body, "tool_choice") ?? at(body, "function_call");
  if (choice === undefined || choice === null) return null;
  if (FREE_CHOICES.includes(typeof choice === "string" ? choice : textAt(choice, "type"))) return null;
  return `tool_choice is ${printExact(choice)}, which keeps the model from the tools that the request offers`;
}

function effortProblem(api: ModelApi, body: ExactJson, named: string): string | null {
  const carried = effortOf(api, body);
  if (carried === named) return null;
  if (carried !== undefined) return `the request's reasoning effort is ${carried}, and the study names ${named}`;
  const thinking = api === "messages" ? at(body, "thinking") : undefined;
  const instead = thinking === undefined ? "" : ` (its thinking is ${printExact(thinking)})`;
  return `the request names no reasoning effort, and the study names ${named}${instead}`;
}

function effortOf(api: ModelApi, body: ExactJson): string | undefined {
  switch (api) {
    case "responses":
      return textAt(body, "reasoning", "effort");
    case "chat":
      return textAt(body, "reasoning_effort") ?? textAt(body, "reasoning", "effort");
    case "messages":
      return textAt(body, "output_config", "effort");
  }
}
