import type { ConversationItem } from "../base/formats/conversation.ts";
import { requestItems } from "../base/formats/model-request.ts";
import { type ModelAnswer, readModelAnswer } from "../base/formats/model-response.ts";
import type { TraceEvent, TraceEventOf } from "../base/formats/trace-events.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import { bodyBytes, bodyJson, type ReadObject } from "./trace-bodies.ts";

/** One model request with its answer, read. */
export interface ModelExchange {
  readonly request: TraceEventOf<"model-request">;
  readonly items: Known<readonly ConversationItem[]>;
  /** null when no answer was recorded. */
  readonly response: TraceEventOf<"model-response"> | null;
  readonly answer: Known<ModelAnswer>;
}

/** The model exchanges of a trace, in order of the requests. */
export function modelExchanges(events: readonly TraceEvent[], readObject: ReadObject): ModelExchange[] {
  const responses = new Map(
    events.filter((event) => event.type === "model-response").map((event) => [event.exchange, event]),
  );
  return events
    .filter((event) => event.type === "model-request")
    .map((request) => {
      const response = responses.get(request.exchange) ?? null;
      return {
        request,
        items: readItems(request, readObject),
        response,
        answer: readAnswer(request, response, readObject),
      };
    });
}

function readItems(request: TraceEventOf<"model-request">, readObject: ReadObject): Known<readonly ConversationItem[]> {
  const bytes = bodyBytes(request.body, readObject);
  if (isUnknown(bytes)) return bytes;
  return requestItems(request.api, bodyJson(bytes, `the request ${request.exchange}`));
}

function readAnswer(
  request: TraceEventOf<"model-request">,
  response: TraceEventOf<"model-response"> | null,
  readObject: ReadObject,
): Known<ModelAnswer> {
  if (response === null) return unknown("missing", "no answer was recorded");
  const bytes = bodyBytes(response.body, readObject);
  return isUnknown(bytes) ? bytes : readModelAnswer(request.api, bytes, response.stream);
}

/**
 * The conversation of a trial as its model saw it: the longest one that a request carried, with the answer to that request. Side requests
 * (titles, summaries) are shorter and fall out.
 */
export function reconstructConversation(
  events: readonly TraceEvent[],
  readObject: ReadObject,
): Known<readonly ConversationItem[]> {
  let longest: { items: readonly ConversationItem[]; exchange: ModelExchange } | null = null;
  for (const exchange of modelExchanges(events, readObject)) {
    if (isUnknown(exchange.items)) return exchange.items;
    if (longest === null || exchange.items.length >= longest.items.length)
      longest = { items: exchange.items, exchange };
  }
  if (longest === null) return unknown("missing", "the trace has no model request");
  const { answer } = longest.exchange;
  return isUnknown(answer) ? longest.items : [...longest.items, ...answer.items];
}
