import type { Json } from "../../base/json.ts";
import type { PreparedReply, StreamEvent } from "./render.ts";

type Block = { readonly [key: string]: Json };

/** A Messages document. */
export function messagesDocument(reply: PreparedReply): Json {
  return {
    id: `msg_${reply.turn}`,
    type: "message",
    role: "assistant",
    model: reply.model,
    content: contentBlocks(reply),
    stop_reason: stopReason(reply),
    stop_sequence: null,
    ...(reply.usage === null ? {} : { usage: { ...inputUsage(reply), output_tokens: reply.usage.output } }),
  };
}

/** The same as a stream of events. */
export function messagesEvents(reply: PreparedReply): StreamEvent[] {
  const message = {
    id: `msg_${reply.turn}`,
    type: "message",
    role: "assistant",
    model: reply.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(reply.usage === null ? {} : { usage: { ...inputUsage(reply), output_tokens: 1 } }),
  };
  const events: Block[] = [{ type: "message_start", message }];
  for (const [index, block] of contentBlocks(reply).entries()) {
    const text = block.type === "text";
    events.push({
      type: "content_block_start",
      index,
      content_block: text ? { type: "text", text: "" } : { ...block, input: {} },
    });
    const delta = text
      ? { type: "text_delta", text: block.text ?? "" }
      : { type: "input_json_delta", partial_json: JSON.stringify(block.input) };
    events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  }
  events.push({
    type: "message_delta",
    delta: { stop_reason: stopReason(reply), stop_sequence: null },
    ...(reply.usage === null ? {} : { usage: { output_tokens: reply.usage.output } }),
  });
  events.push({ type: "message_stop" });
  return events.map((data) => ({ event: String(data.type), data }));
}

function contentBlocks(reply: PreparedReply): Block[] {
  const text = reply.text ?? reply.refusal;
  return [
    ...(text === null ? [] : [{ type: "text", text }]),
    ...reply.toolCalls.map(({ id, name, arguments: input }) => ({ type: "tool_use", id, name, input })),
  ];
}

function stopReason(reply: PreparedReply): string {
  if (reply.refusal !== null || reply.finish === "filter") return "refusal";
  if (reply.finish === "length") return "max_tokens";
  return reply.toolCalls.length > 0 ? "tool_use" : "end_turn";
}

function inputUsage({ usage }: PreparedReply): { readonly [key: string]: Json } {
  if (usage === null) return {};
  return {
    input_tokens: usage.input - usage.cachedInput,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: usage.cachedInput,
  };
}
