import type { Reply } from "./terms.ts";
import { SPACE, trim } from "./text.ts";

const HARMONY_FINAL = "<|end|><|start|>assistant<|channel|>final<|message|>";
const THINK_END = "</think>";
const THINK_OPEN = new RegExp(`<think${SPACE}*>`, "iu");

/**
 * The part of a reply that counts: after the last Harmony marker of the final channel, then after the last `</think>`. Empty when a
 * `<think>` is still open there: an unfinished thought is never judged. Trimmed.
 */
export function finalAnswer(text: string): string {
  const final = after(after(text, HARMONY_FINAL), THINK_END);
  return THINK_OPEN.test(final) ? "" : trim(final);
}

function after(text: string, marker: string): string {
  const at = text.lastIndexOf(marker);
  return at === -1 ? text : text.slice(at + marker.length);
}

/** Why a reply cannot be used, or null: the transport failed, it did not stop by itself, or its final answer is empty. */
export function replyError(reply: Pick<Reply, "text" | "finish_reason" | "error">): string | null {
  if (reply.error !== null) return reply.error;
  if (reply.finish_reason !== "stop") return "non_stop_finish";
  return finalAnswer(reply.text) === "" ? "empty_final_answer" : null;
}
