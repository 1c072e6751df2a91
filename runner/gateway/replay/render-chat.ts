import type { Json } from "../../base/json.ts";
import type { PreparedReply, StreamEvent } from "./render.ts";

/** A Chat Completions document. */
export function chatDocument(reply: PreparedReply): Json {
  const calls = toolCalls(reply);
  return {
    id: `chatcmpl-${reply.turn}`,
    object: "chat.completion",
    created: 0,
    model: reply.model,
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: reply.text,
          refusal: reply.refusal,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
        finish_reason: finishReason(reply),
      },
    ],
    ...(reply.usage === null ? {} : { usage: usage(reply) }),
  };
}

/** The same as a stream of chunks. */
export function chatEvents(reply: PreparedReply): StreamEvent[] {
  const chunk = (choices: readonly Json[], more: { readonly [key: string]: Json } = {}): StreamEvent => ({
    event: null,
    data: {
      id: `chatcmpl-${reply.turn}`,
      object: "chat.completion.chunk",
      created: 0,
      model: reply.model,
      choices,
      ...more,
    },
  });
  const delta = (part: Json): StreamEvent => chunk([{ index: 0, delta: part, finish_reason: null }]);
  return [
    delta({ role: "assistant", content: "" }),
    ...(reply.text === null ? [] : [delta({ content: reply.text })]),
    ...(reply.refusal === null ? [] : [delta({ refusal: reply.refusal })]),
    ...toolCalls(reply).map((call, index) => delta({ tool_calls: [{ index, ...call }] })),
    chunk([{ index: 0, delta: {}, finish_reason: finishReason(reply) }]),
    ...(reply.usage === null ? [] : [chunk([], { usage: usage(reply) })]),
    { event: null, data: "[DONE]" },
  ];
}

function toolCalls(reply: PreparedReply) {
  return reply.toolCalls.map(({ id, name, arguments: given }) => ({
    id,
    type: "function",
    function: { name, arguments: JSON.stringify(given) },
  }));
}

function finishReason(reply: PreparedReply): string {
  if (reply.finish === "length") return "length";
  if (reply.finish === "filter") return "content_filter";
  return reply.toolCalls.length > 0 ? "tool_calls" : "stop";
}

function usage({ usage: counts }: PreparedReply): Json {
  if (counts === null) return null;
  return {
    prompt_tokens: counts.input,
    completion_tokens: counts.output,
    total_tokens: counts.input + counts.output,
    prompt_tokens_details: { cached_tokens: counts.cachedInput },
    completion_tokens_details: { reasoning_tokens: counts.reasoning },
  };
}
