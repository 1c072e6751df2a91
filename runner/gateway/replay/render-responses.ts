import type { Json } from "../../base/json.ts";
import type { PreparedReply, StreamEvent } from "./render.ts";

type Item = { readonly [key: string]: Json };

/** A Responses document. */
export function responsesDocument(reply: PreparedReply): Json {
  return response(reply, finalStatus(reply), outputItems(reply), reply.usage === null ? {} : { usage: usage(reply) });
}

/** The same as a stream of events. */
export function responsesEvents(reply: PreparedReply): StreamEvent[] {
  const events: Item[] = [{ type: "response.created", response: response(reply, "in_progress", [], {}) }];
  for (const [index, item] of outputItems(reply).entries()) {
    const place = { output_index: index, item_id: item.id ?? "" };
    events.push({ type: "response.output_item.added", output_index: index, item: { ...item, status: "in_progress" } });
    if (item.type === "function_call") {
      events.push({ type: "response.function_call_arguments.delta", ...place, delta: item.arguments ?? "" });
      events.push({ type: "response.function_call_arguments.done", ...place, arguments: item.arguments ?? "" });
    } else if (reply.text !== null) {
      events.push({ type: "response.output_text.delta", ...place, content_index: 0, delta: reply.text });
      events.push({ type: "response.output_text.done", ...place, content_index: 0, text: reply.text });
    }
    events.push({ type: "response.output_item.done", output_index: index, item });
  }
  const status = finalStatus(reply);
  events.push({ type: `response.${status}`, response: responsesDocument(reply) });
  return events.map((data, sequence) => ({ event: String(data.type), data: { ...data, sequence_number: sequence } }));
}

function response(reply: PreparedReply, status: string, output: readonly Json[], more: Item): Json {
  return {
    id: `resp_${reply.turn}`,
    object: "response",
    created_at: 0,
    status,
    model: reply.model,
    output,
    error: null,
    incomplete_details:
      status === "incomplete" ? { reason: reply.finish === "length" ? "max_output_tokens" : "content_filter" } : null,
    ...more,
  };
}

function outputItems(reply: PreparedReply): Item[] {
  const content: Json[] = [
    ...(reply.text === null ? [] : [{ type: "output_text", text: reply.text, annotations: [] }]),
    ...(reply.refusal === null ? [] : [{ type: "refusal", refusal: reply.refusal }]),
  ];
  const message = { id: `msg_${reply.turn}`, type: "message", role: "assistant", status: "completed", content };
  return [
    ...(content.length > 0 ? [message] : []),
    ...reply.toolCalls.map(({ id, name, namespace, arguments: given }) => ({
      id: `fc_${id}`,
      type: "function_call",
      status: "completed",
      call_id: id,
      name,
      ...(namespace === null ? {} : { namespace }),
      arguments: JSON.stringify(given),
    })),
  ];
}

function finalStatus(reply: PreparedReply): string {
  return reply.finish === "stop" ? "completed" : "incomplete";
}

function usage({ usage: counts }: PreparedReply): Json {
  if (counts === null) return null;
  return {
    input_tokens: counts.input,
    input_tokens_details: { cached_tokens: counts.cachedInput },
    output_tokens: counts.output,
    output_tokens_details: { reasoning_tokens: counts.reasoning },
    total_tokens: counts.input + counts.output,
  };
}
