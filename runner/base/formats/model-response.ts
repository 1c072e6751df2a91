import type { ExactJson } from "../json.ts";
import { parseExactJson } from "../strict-json.ts";
import { type Known, unknown } from "../unknown.ts";
import { assembleStream } from "./assemble-stream.ts";
import type { ModelApi } from "./common.ts";
import { type ConversationItem, chatMessageItems, messagesBlockItems, responsesItems } from "./conversation.ts";
import { at, listAt, textAt } from "./json-access.ts";
import { parseServerSentEvents } from "./sse.ts";
import type { Usage } from "./trace-events.ts";
import { readUsage, unknownUsage } from "./usage.ts";

/** What a model answered. `finish` is the API's own word for why it stopped. */
export interface ModelAnswer {
  readonly items: readonly ConversationItem[];
  readonly usage: Usage;
  readonly model: Known<string>;
  readonly finish: Known<string>;
  /** The error that the body carries, in the API's words (`type` is its type or code); null when it carries none. */
  readonly error: { readonly type: string; readonly message: string } | null;
}

/** Reads a whole answer: a JSON document, or (`stream`) server-sent events. What cannot be read is unknown, never an exception. */
export function readModelAnswer(api: ModelApi, bytes: Uint8Array, stream: boolean): ModelAnswer {
  try {
    const document = stream
      ? assembleStream(api, parseServerSentEvents(bytes))
      : parseExactJson(bytes, { source: "the model's answer", maxDepth: 256 });
    return readDocument(api, document);
  } catch (thrown) {
    const reason = unknown("unavailable", thrown instanceof Error ? thrown.message : String(thrown));
    return { items: [], usage: unknownUsage(reason), model: reason, finish: reason, error: null };
  }
}

function readDocument(api: ModelApi, document: ExactJson): ModelAnswer {
  const error = at(document, "error");
  return {
    items: answerItems(api, document),
    usage: readUsage(api, at(document, "usage")),
    model: textAt(document, "model") ?? unknown("missing", "the answer names no model"),
    finish: finishOf(api, document) ?? unknown("missing", "the answer does not say why it ended"),
    error:
      error === undefined || error === null
        ? null
        : {
            type: textAt(error, "code") ?? textAt(error, "type") ?? "unknown",
            message: textAt(error, "message") ?? "an error without a message",
          },
  };
}

function answerItems(api: ModelApi, document: ExactJson): ConversationItem[] {
  switch (api) {
    case "chat": {
      const message = at(document, "choices", 0, "message");
      return typeof message === "object" && message !== null
        ? chatMessageItems({ ...(message as { readonly [key: string]: ExactJson }), role: "assistant" })
        : [];
    }
    case "responses":
      return listAt(document, "output").flatMap(responsesItems);
    case "messages":
      return listAt(document, "content").flatMap((block) => messagesBlockItems("assistant", block));
  }
}

function finishOf(api: ModelApi, document: ExactJson): string | undefined {
  switch (api) {
    case "chat":
      return textAt(document, "choices", 0, "finish_reason");
    case "responses":
      return textAt(document, "incomplete_details", "reason") ?? textAt(document, "status");
    case "messages":
      return textAt(document, "stop_reason");
  }
}
