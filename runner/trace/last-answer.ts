import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { ModelExchange } from "./conversation.ts";

/**
 * How the model's last answer ended, read at the boundary and so alike for every agent: words; a refusal (or a filter that stopped it); its
 * length limit; nothing at all; or calls of tools, after which the agent asked no more.
 */
export type LastAnswer = "text" | "refusal" | "length" | "empty" | "tool-calls";

const REFUSALS = ["refusal", "content_filter", "safety"];
const LENGTHS = ["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"];

/** Reads the last answer among the exchanges whose requests offered tools; side requests, such as for a title, say nothing. */
export function lastAnswer(exchanges: readonly ModelExchange[], offering: ReadonlySet<string>): Known<LastAnswer> {
  const last = exchanges.findLast(({ request, response }) => offering.has(request.exchange) && response !== null);
  if (last === undefined) return unknown("missing", "no request that offered tools was answered");
  const { answer } = last;
  if (isUnknown(answer)) return answer;
  if (answer.error !== null) return unknown("unavailable", `the last answer is an error: ${answer.error.type}`);
  const { items, finish } = answer;
  if (items.some(({ kind }) => kind === "refusal") || (!isUnknown(finish) && REFUSALS.includes(finish)))
    return "refusal";
  if (!isUnknown(finish) && LENGTHS.includes(finish)) return "length";
  if (items.some(({ kind }) => kind === "tool-call")) return "tool-calls";
  return items.some((item) => item.kind === "text" && item.text.trim() !== "")
    ? "text"
    : isUnknown(finish)
      ? finish
      : "empty";
}
