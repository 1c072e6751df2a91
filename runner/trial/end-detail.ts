import { explainReason } from "../agent/explain-end.ts";
import type { ExitMeaning } from "../agent/model-agent.ts";
import { isUnknown, type Known } from "../base/unknown.ts";
import type { LastAnswer } from "../trace/last-answer.ts";

/**
 * Why an agent that ended by itself did: where the boundary shows that the model declined, was cut or said nothing, in the same words for
 * every agent, whatever the agent made of it; else in the agent's own.
 */
export function endDetail(meaning: ExitMeaning, last: Known<LastAnswer>): string | null {
  if (meaning.kind !== "self" || isUnknown(last)) return meaning.detail;
  switch (last) {
    case "refusal":
    case "length":
    case "empty":
      return explainReason(last, null).detail;
    case "tool-calls":
      return meaning.detail ?? "the agent ended although the model had called a tool";
    case "text":
      return meaning.detail;
  }
}
