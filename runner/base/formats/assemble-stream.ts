import type { ExactJson } from "../json.ts";
import { parseExactJson } from "../strict-json.ts";
import type { ModelApi } from "./common.ts";
import { at, countAt, listAt, textAt } from "./json-access.ts";
import type { ServerSentEvent } from "./sse.ts";

type JsonObject = { [key: string]: ExactJson };

/** Puts a streamed answer together to the document that the API would have given at once, as far as the stream got. */
export function assembleStream(api: ModelApi, events: readonly ServerSentEvent[]): ExactJson {
  const documents = events
    .filter((event) => event.data !== "[DONE]" && event.data !== "")
    .map((event) => parseExactJson(event.data, { source: "a streamed event", maxDepth: 256 }));
  switch (api) {
    case "chat":
      return assembleChat(documents);
    case "responses":
      return assembleResponses(documents);
    case "messages":
      return assembleMessages(documents);
  }
}

function assembleChat(chunks: readonly ExactJson[]): ExactJson {
  const message: JsonObject = { role: "assistant" };
  const calls = new Map<number, { id: string; name: string; arguments: string }>();
  const result: JsonObject = {};
  let finish: ExactJson = null;
  for (const chunk of chunks) {
    for (const key of ["model", "usage", "error"]) {
      const value = at(chunk, key);
      if (value !== undefined && value !== null) result[key] = value;
    }
    const choice = at(chunk, "choices", 0);
    finish = at(choice, "finish_reason") ?? finish;
    for (const key of ["content", "refusal", "reasoning_content", "reasoning"]) {
      const piece = textAt(choice, "delta", key);
      if (piece !== undefined) message[key] = `${textAt(message, key) ?? ""}${piece}`;
    }
    for (const [position, delta] of listAt(choice, "delta", "tool_calls").entries()) {
      const index = countAt(delta, "index") ?? position;
      const call = calls.get(index) ?? { id: "", name: "", arguments: "" };
      calls.set(index, {
        id: call.id || (textAt(delta, "id") ?? ""),
        name: call.name + (textAt(delta, "function", "name") ?? ""),
        arguments: call.arguments + (textAt(delta, "function", "arguments") ?? ""),
      });
    }
  }
  if (calls.size > 0) {
    message.tool_calls = [...calls].map(([, { id, name, arguments: given }]) => ({
      id,
      type: "function",
      function: { name, arguments: given },
    }));
  }
  return { ...result, choices: [{ index: 0, message, finish_reason: finish }] };
}

function assembleResponses(events: readonly ExactJson[]): ExactJson {
  const done: ExactJson[] = [];
  let response: ExactJson | undefined;
  let error: ExactJson | undefined;
  for (const event of events) {
    const type = textAt(event, "type");
    if (type === "response.output_item.done") done.push(at(event, "item") ?? null);
    else if (type === "error") error = at(event, "error") ?? event;
    else if (type?.startsWith("response.")) response = at(event, "response") ?? response;
  }
  const base = typeof response === "object" && response !== null ? (response as JsonObject) : {};
  const output = listAt(base, "output").length > 0 ? listAt(base, "output") : done;
  return { ...base, output, ...(error === undefined ? {} : { error }) };
}

function assembleMessages(events: readonly ExactJson[]): ExactJson {
  const blocks = new Map<number, JsonObject>();
  let message: JsonObject = {};
  let usage: JsonObject = {};
  let error: ExactJson | undefined;
  for (const event of events) {
    const index = countAt(event, "index") ?? 0;
    switch (textAt(event, "type")) {
      case "message_start": {
        message = { ...objectAt(event, "message") };
        // The count of output tokens in the first event is that of its own beginning, not the answer's.
        const { output_tokens: _, ...rest } = objectAt(event, "message", "usage");
        usage = rest;
        break;
      }
      case "content_block_start":
        blocks.set(index, { ...objectAt(event, "content_block") });
        break;
      case "content_block_delta":
        blocks.set(index, extended(blocks.get(index) ?? {}, at(event, "delta")));
        break;
      case "message_delta":
        message = { ...message, ...objectAt(event, "delta") };
        usage = { ...usage, ...objectAt(event, "usage") };
        break;
      case "error":
        error = at(event, "error") ?? event;
        break;
      default:
    }
  }
  const content = [...blocks].map(([, block]) => finishedBlock(block));
  return { ...message, content, usage, ...(error === undefined ? {} : { error }) };
}

function objectAt(value: ExactJson, ...path: string[]): JsonObject {
  const found = at(value, ...path);
  return typeof found === "object" && found !== null && !Array.isArray(found) ? (found as JsonObject) : {};
}

function extended(block: JsonObject, delta: ExactJson | undefined): JsonObject {
  const add = (key: string, piece: string | undefined) => ({
    ...block,
    [key]: (textAt(block, key) ?? "") + (piece ?? ""),
  });
  switch (textAt(delta, "type")) {
    case "text_delta":
      return add("text", textAt(delta, "text"));
    case "thinking_delta":
      return add("thinking", textAt(delta, "thinking"));
    case "input_json_delta":
      return add("partial_json", textAt(delta, "partial_json"));
    default:
      return block;
  }
}

/** A tool's input arrives as JSON text in pieces; an unfinished one stays text. */
function finishedBlock(block: JsonObject): ExactJson {
  const { partial_json: partial, ...rest } = block;
  return typeof partial === "string" && partial !== "" ? { ...rest, input: partial } : rest;
}
