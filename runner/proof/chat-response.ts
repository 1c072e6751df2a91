import { isObject } from "../base/json.ts";
import type { Reply, Usage } from "./terms.ts";

/** The part of a chat completion that a run uses. */
export type Chat = Pick<Reply, "text" | "reasoning_content" | "finish_reason" | "usage" | "model">;

/**
 * Reads the body of a chat completion: lenient about what it does not use, null when there is no first choice with a message or its content
 * is no text. A list of content parts is joined from its text parts; no content at all is the empty text.
 */
export function readChat(body: string): Chat | null {
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch {
    return null;
  }
  if (!isObject(value) || !Array.isArray(value.choices)) return null;
  const choice: unknown = value.choices[0];
  if (!isObject(choice) || !isObject(choice.message)) return null;
  const { message } = choice;
  const text = readContent(message.content);
  if (text === null) return null;
  return {
    text,
    reasoning_content: textOr(message.reasoning_content, textOr(message.reasoning, "")),
    finish_reason: typeof choice.finish_reason === "string" ? choice.finish_reason : null,
    usage: readUsage(value.usage),
    model: typeof value.model === "string" ? value.model : null,
  };
}

function readContent(content: unknown): string | null {
  if (content === null || content === undefined) return "";
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return null;
  return content
    .map((part: unknown) => (isObject(part) && part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("");
}

function readUsage(usage: unknown): Usage | null {
  if (!isObject(usage)) return null;
  const prompt = isObject(usage.prompt_tokens_details) ? usage.prompt_tokens_details : {};
  const completion = isObject(usage.completion_tokens_details) ? usage.completion_tokens_details : {};
  return {
    prompt_tokens: count(usage.prompt_tokens),
    completion_tokens: count(usage.completion_tokens),
    cached_tokens: count(prompt.cached_tokens ?? usage.prompt_cache_hit_tokens),
    reasoning_tokens: count(completion.reasoning_tokens),
  };
}

function count(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function textOr(value: unknown, otherwise: string): string {
  return typeof value === "string" ? value : otherwise;
}
