import type { ExactJson } from "../json.ts";
import type { ModelApi } from "./common.ts";
import {
  type ConversationItem,
  chatMessageItems,
  contentItems,
  messagesBlockItems,
  qualifiedName,
  responsesItems,
} from "./conversation.ts";
import { at, listAt, textAt } from "./json-access.ts";

/** The conversation that a model request carries, oldest first. */
export function requestItems(api: ModelApi, body: ExactJson): ConversationItem[] {
  switch (api) {
    case "chat":
      return listAt(body, "messages").flatMap(chatMessageItems);
    case "responses": {
      const input = at(body, "input");
      const instructions = contentItems("system", at(body, "instructions"));
      if (typeof input === "string") return [...instructions, { kind: "text", role: "user", text: input }];
      return [...instructions, ...listAt(input).flatMap(responsesItems)];
    }
    case "messages":
      return [
        ...contentItems("system", at(body, "system")),
        ...listAt(body, "messages").flatMap((message) => {
          const role = textAt(message, "role") === "assistant" ? "assistant" : "user";
          const content = at(message, "content");
          if (typeof content === "string") return contentItems(role, content);
          return listAt(content).flatMap((block) => messagesBlockItems(role, block));
        }),
      ];
  }
}

/** Every tool that a request offers, in its order: those of its `tools`, and in Responses those of items inside the conversation. */
export function offeredTools(api: ModelApi, body: ExactJson): ExactJson[] {
  const tools = [...listAt(body, "tools"), ...(api === "chat" ? listAt(body, "functions") : [])];
  if (api !== "responses") return tools;
  return [...tools, ...listAt(body, "input").flatMap((item) => listAt(item, "tools"))];
}

/**
 * The names of the tools that a request offers, in its order. A tool inside a Responses namespace is `<namespace>__<tool>`; a tool
 * without a name counts by its type.
 */
export function offeredToolNames(api: ModelApi, body: ExactJson): string[] {
  return offeredTools(api, body).flatMap((tool) => {
    if (textAt(tool, "type") === "namespace") {
      const namespace = textAt(tool, "name") ?? "";
      return listAt(tool, "tools").map((inner) => `${namespace}__${qualifiedName(inner)}`);
    }
    const name = textAt(tool, "function", "name") ?? textAt(tool, "custom", "name") ?? textAt(tool, "name");
    return [name ?? textAt(tool, "type") ?? "?"];
  });
}
