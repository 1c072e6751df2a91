import { messageOf } from "../errors.ts";
import type { ExactJson } from "../json.ts";
import { parseExactJson } from "../strict-json.ts";
import { at, textAt } from "./json-access.ts";
import { printExact } from "./plain-json.ts";
import { parseServerSentEvents } from "./sse.ts";

/** One JSON-RPC message. `id` is the JSON text of the id, so that 1 and "1" stay apart. */
export type McpMessage =
  | { readonly kind: "request"; readonly id: string; readonly method: string; readonly params: ExactJson | undefined }
  | { readonly kind: "notification"; readonly method: string; readonly params: ExactJson | undefined }
  | { readonly kind: "result"; readonly id: string; readonly result: ExactJson }
  | { readonly kind: "error"; readonly id: string | null; readonly error: ExactJson };

export interface McpFrame {
  readonly messages: readonly McpMessage[];
  /** Why the bytes, or a part of them, are no JSON-RPC; null when they are, and for a frame without data. */
  readonly problem: string | null;
}

const LIMITS = { source: "an MCP message", maxDepth: 256, maxBytes: 256 * 1024 * 1024 };

/** Reads one frame of an MCP exchange, strictly and with every digit: a whole body (`body`) or one server-sent event (`sse`). */
export function readMcpFrame(bytes: Uint8Array, form: "body" | "sse"): McpFrame {
  try {
    const texts: (string | Uint8Array)[] =
      form === "body" ? [bytes] : parseServerSentEvents(bytes).map((event) => event.data);
    const messages = texts
      .filter((text) => text.length > 0)
      .map((text) => parseExactJson(text, LIMITS))
      .flatMap((value) => (Array.isArray(value) ? (value as readonly ExactJson[]) : [value]))
      .map(readMessage);
    const wrong = messages.find((message) => typeof message === "string");
    return { messages: messages.filter((message) => typeof message !== "string"), problem: wrong ?? null };
  } catch (thrown) {
    return { messages: [], problem: messageOf(thrown) };
  }
}

function readMessage(value: ExactJson): McpMessage | string {
  const id = at(value, "id");
  const idText = typeof id === "string" || typeof id === "number" || typeof id === "bigint" ? printExact(id) : null;
  const method = textAt(value, "method");
  const params = at(value, "params");
  if (method !== undefined) {
    return idText === null ? { kind: "notification", method, params } : { kind: "request", id: idText, method, params };
  }
  const error = at(value, "error");
  if (error !== undefined) return { kind: "error", id: idText, error };
  const result = at(value, "result");
  if (result !== undefined && idText !== null) return { kind: "result", id: idText, result };
  return "a JSON value that is no JSON-RPC message";
}
