import { canonicalText } from "../../base/canonical-json.ts";
import type { Assertion } from "../../base/formats/cassette.ts";
import { type ConversationItem, isByModel } from "../../base/formats/conversation.ts";
import { at, pointerSteps } from "../../base/formats/json-access.ts";
import { plainJson } from "../../base/formats/plain-json.ts";
import type { Json } from "../../base/json.ts";
import { parseExactJson } from "../../base/strict-json.ts";

/** A request as a cassette sees it: its normalised body and the conversation in it. */
export interface SeenRequest {
  readonly body: Json;
  readonly items: readonly ConversationItem[];
}

/** Why an assertion does not hold, with the value seen; null when it holds. */
export function failureOf(assertion: Assertion, request: SeenRequest): string | null {
  const place = describePlace(assertion);
  const target = targetOf(assertion, request);
  if ("missing" in target) return `${place}: ${target.missing}`;
  const { value } = target;
  const text = typeof value === "string" ? value : canonicalText(value);
  if (assertion.equals !== undefined) {
    const wanted = canonicalText(assertion.equals);
    return canonicalText(value) === wanted
      ? null
      : `${place}: expected ${brief(wanted)}, got ${brief(canonicalText(value))}`;
  }
  if (assertion.contains !== undefined) {
    if (text.includes(assertion.contains)) return null;
    return `${place}: expected it to contain ${brief(JSON.stringify(assertion.contains))}, got ${brief(text)}`;
  }
  const pattern = assertion.matches ?? "";
  return new RegExp(pattern, "u").test(text)
    ? null
    : `${place}: expected it to match ${brief(pattern)}, got ${brief(text)}`;
}

type Target = { readonly value: Json } | { readonly missing: string };

function targetOf({ on, index, at: pointer }: Assertion, { body, items }: SeenRequest): Target {
  if (on === "body") return memberOf(body, pointer);
  const texts = on === "instruction" ? instruction(items) : results(items);
  const text = texts.at(index > 0 ? index - 1 : index);
  if (text === undefined) return { missing: `there is none; the conversation has ${texts.length}` };
  if (pointer === null) return { value: text };
  const document = jsonInside(text);
  return document === undefined ? { missing: `no JSON in ${brief(text)}` } : memberOf(document, pointer);
}

/** Agents put words of their own before the task's, so all that the user said before the model's first turn is one text. */
function instruction(items: readonly ConversationItem[]): string[] {
  const first = items.findIndex(isByModel);
  const before = first === -1 ? items : items.slice(0, first);
  const texts = before.flatMap((item) => (item.kind === "text" && item.role === "user" ? [item.text] : []));
  return texts.length === 0 ? [] : [texts.join("\n")];
}

/**
 * The texts of all tool results. Agents that run the calls of a turn at once write the results as they come, so those of a turn stand in the
 * order of its calls here; results of no call of the turn follow.
 */
function results(items: readonly ConversationItem[]): string[] {
  const texts: string[] = [];
  let calls: string[] = [];
  let found: { readonly id: string; readonly text: string }[] = [];
  const close = (): void => {
    const place = (id: string): number => (calls.includes(id) ? calls.indexOf(id) : calls.length);
    texts.push(...found.sort((a, b) => place(a.id) - place(b.id)).map(({ text }) => text));
    [calls, found] = [[], []];
  };
  for (const item of items) {
    if (isByModel(item) && found.length > 0) close();
    if (item.kind === "tool-call") calls.push(item.id);
    else if (item.kind === "tool-result") found.push(item);
  }
  close();
  return texts;
}

function memberOf(value: Json, pointer: string | null): Target {
  const found = at(value, ...pointerSteps(pointer ?? ""));
  return found === undefined ? { missing: "there is no such member" } : { value: found as Json };
}

/** The JSON document that a text is, or that stands in it between words, as agents and servers put it there. */
function jsonInside(text: string): Json | undefined {
  for (const candidate of [text, text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)]) {
    try {
      return plainJson(parseExactJson(candidate, { source: "a tool result", maxDepth: 256 }));
    } catch {}
  }
  return undefined;
}

function describePlace({ on, index, at: pointer }: Assertion): string {
  const base = on === "toolResult" ? `tool result ${index}` : on;
  return pointer === null ? base : `${base} at ${pointer}`;
}

function brief(text: string): string {
  return text.length > 200 ? `${text.slice(0, 197)}...` : text;
}
