import type { ExactJson } from "../json.ts";
import { at, listAt, textAt } from "./json-access.ts";
import { printExact } from "./plain-json.ts";

/** One piece of a model conversation, the same for every API. */
export type ConversationItem =
  | { readonly kind: "text"; readonly role: "system" | "user" | "assistant"; readonly text: string }
  | { readonly kind: "reasoning"; readonly text: string }
  | { readonly kind: "refusal"; readonly text: string }
  /** `arguments` is JSON text as the model wrote it; `name` includes a Responses namespace as `<namespace>__<tool>`. */
  | { readonly kind: "tool-call"; readonly id: string; readonly name: string; readonly arguments: string }
  | { readonly kind: "tool-result"; readonly id: string; readonly text: string; readonly isError: boolean | null }
  /** A piece of a kind that is not known here, such as an image; `type` is the API's word. */
  | { readonly kind: "other"; readonly type: string };

/** Tells what the model wrote from what it was given. */
export function isByModel(item: ConversationItem): boolean {
  return (
    item.kind === "reasoning" ||
    item.kind === "refusal" ||
    item.kind === "tool-call" ||
    (item.kind === "text" && item.role === "assistant")
  );
}

/** How many turns of the model a conversation holds: runs of its pieces with nothing of others between. */
export function modelTurns(items: readonly ConversationItem[]): number {
  let turns = 0;
  let inside = false;
  for (const item of items) {
    if (item.kind === "other") continue;
    const byModel = isByModel(item);
    if (byModel && !inside) turns += 1;
    inside = byModel;
  }
  return turns;
}

/** The text of a content member: a string, or the joined text parts of a list. */
export function contentText(content: ExactJson | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part) => (typeof part === "string" ? part : (textAt(part, "text") ?? ""))).join("");
}

/** Text and unknown parts of a message's content. */
export function contentItems(
  role: "system" | "user" | "assistant",
  content: ExactJson | undefined,
): ConversationItem[] {
  if (typeof content === "string") return content === "" ? [] : [{ kind: "text", role, text: content }];
  return listAt(content).map((part): ConversationItem => {
    const text = textAt(part, "text");
    if (text !== undefined) return { kind: "text", role, text };
    const refusal = textAt(part, "refusal");
    if (refusal !== undefined) return { kind: "refusal", text: refusal };
    return { kind: "other", type: textAt(part, "type") ?? "?" };
  });
}

/** A tool call's arguments as JSON text, whether the API carries text or a value. */
export function argumentText(value: ExactJson | undefined): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : printExact(value);
}

/** A function's name, with its namespace where it has one. */
export function qualifiedName(value: ExactJson | undefined): string {
  const name = textAt(value, "name") ?? "";
  const namespace = textAt(value, "namespace");
  return namespace === undefined ? name : `${namespace}__${name}`;
}

/** The pieces of one Chat Completions message. */
export function chatMessageItems(message: ExactJson): ConversationItem[] {
  const role = textAt(message, "role");
  if (role === "tool" || role === "function") {
    const id = textAt(message, "tool_call_id") ?? textAt(message, "name") ?? "";
    return [{ kind: "tool-result", id, text: contentText(at(message, "content")), isError: null }];
  }
  if (role !== "assistant") return contentItems(role === "user" ? "user" : "system", at(message, "content"));
  const reasoning = textAt(message, "reasoning_content") ?? textAt(message, "reasoning");
  const refusal = textAt(message, "refusal");
  return [
    ...(reasoning ? [{ kind: "reasoning", text: reasoning } as const] : []),
    ...contentItems("assistant", at(message, "content")),
    ...(refusal ? [{ kind: "refusal", text: refusal } as const] : []),
    ...listAt(message, "tool_calls").map(
      (call): ConversationItem => ({
        kind: "tool-call",
        id: textAt(call, "id") ?? "",
        name: textAt(call, "function", "name") ?? textAt(call, "custom", "name") ?? "",
        arguments: argumentText(at(call, "function", "arguments") ?? at(call, "custom", "input")),
      }),
    ),
  ];
}

/** The pieces of one Responses item, of an `input` or an `output`. */
export function responsesItems(item: ExactJson): ConversationItem[] {
  const type = textAt(item, "type") ?? "message";
  if (type === "message") {
    const role = textAt(item, "role");
    return contentItems(role === "assistant" ? "assistant" : role === "user" ? "user" : "system", at(item, "content"));
  }
  if (type === "reasoning") {
    const parts = [...listAt(item, "summary"), ...listAt(item, "content")];
    return [{ kind: "reasoning", text: contentText(parts) }];
  }
  const id = textAt(item, "call_id") ?? textAt(item, "id") ?? "";
  if (type.endsWith("_call_output")) {
    const output = at(item, "output");
    const text = typeof output === "string" || Array.isArray(output) ? contentText(output) : argumentText(output);
    return [{ kind: "tool-result", id, text, isError: null }];
  }
  if (type.endsWith("_call")) {
    const name = textAt(item, "name") === undefined ? type.slice(0, -"_call".length) : qualifiedName(item);
    const given = at(item, "arguments") ?? at(item, "input") ?? at(item, "action") ?? at(item, "operation");
    return [{ kind: "tool-call", id, name, arguments: argumentText(given) }];
  }
  return [{ kind: "other", type }];
}

/** The pieces of one Messages content block. */
export function messagesBlockItems(role: "user" | "assistant", block: ExactJson): ConversationItem[] {
  switch (textAt(block, "type")) {
    case "text":
      return [{ kind: "text", role, text: textAt(block, "text") ?? "" }];
    case "thinking":
      return [{ kind: "reasoning", text: textAt(block, "thinking") ?? "" }];
    case "tool_use":
      return [
        {
          kind: "tool-call",
          id: textAt(block, "id") ?? "",
          name: textAt(block, "name") ?? "",
          arguments: argumentText(at(block, "input")),
        },
      ];
    case "tool_result":
      return [
        {
          kind: "tool-result",
          id: textAt(block, "tool_use_id") ?? "",
          text: contentText(at(block, "content")),
          isError: at(block, "is_error") === true,
        },
      ];
    default:
      return [{ kind: "other", type: textAt(block, "type") ?? "?" }];
  }
}
