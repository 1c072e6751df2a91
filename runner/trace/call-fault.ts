import { at, listAt, textAt } from "../base/formats/json-access.ts";
import { printExact } from "../base/formats/plain-json.ts";
import { type ExactJson, isObject } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import type { McpOutcome } from "./mcp-calls.ts";

/**
 * What is wrong with a tool call: a JSON-RPC error, a result that says `isError`, an error or a failed status inside a result that
 * calls itself a success, an HTTP failure, or no answer.
 */
export type FaultKind = "rpc-error" | "tool-error" | "embedded-error" | "transport" | "unanswered";

export interface CallFault {
  readonly kind: FaultKind;
  /** The server's own code where it gives one. */
  readonly code: string | null;
  /** The error's text, whole: equal errors have equal texts. */
  readonly text: string;
}

const FAILED_STATUS = new Set(["ERROR", "FAILED", "TIMEOUT", "CANCELLED"]);

/** Why a call is invalid; null when it is valid. */
export function faultOf(outcome: McpOutcome): CallFault | null {
  switch (outcome.kind) {
    case "transport":
      return { kind: "transport", code: null, text: outcome.detail };
    case "unanswered":
      return { kind: "unanswered", code: null, text: outcome.detail };
    case "error": {
      const code = at(outcome.error, "code");
      return { kind: "rpc-error", code: code === undefined ? null : printExact(code), text: printExact(outcome.error) };
    }
    case "result": {
      if (at(outcome.result, "isError") === true) {
        const text = visibleText(outcome.result);
        return { kind: "tool-error", code: textAt(jsonIn(text), "code") ?? null, text };
      }
      return embeddedFault(resultDocument(outcome.result));
    }
  }
}

function embeddedFault(document: ExactJson | undefined): CallFault | null {
  const error = at(document, "error");
  if (textAt(document, "kind") === "error" || isObject(error)) {
    return { kind: "embedded-error", code: textAt(error, "code") ?? null, text: printExact(document ?? null) };
  }
  const status = textAt(document, "execution", "status");
  if (status !== undefined && FAILED_STATUS.has(status)) {
    return { kind: "embedded-error", code: status, text: printExact(document ?? null) };
  }
  return null;
}

/** The document that a result carries: its structured content, or the first text block that is a JSON object. */
export function resultDocument(result: ExactJson): ExactJson | undefined {
  const structured = at(result, "structuredContent");
  if (isObject(structured)) return structured;
  return listAt(result, "content")
    .map((block) => parsed(textAt(block, "text") ?? ""))
    .find((document) => isObject(document));
}

/** The text blocks of a result, joined. */
export function visibleText(result: ExactJson): string {
  return listAt(result, "content")
    .map((block) => textAt(block, "text") ?? "")
    .join("\n");
}

function jsonIn(text: string): ExactJson | undefined {
  const open = text.indexOf("{");
  return open === -1 ? undefined : parsed(text.slice(open, text.lastIndexOf("}") + 1));
}

function parsed(text: string): ExactJson | undefined {
  try {
    return parseExactJson(text, { source: "a tool's result", maxDepth: 256 });
  } catch {
    return undefined;
  }
}
