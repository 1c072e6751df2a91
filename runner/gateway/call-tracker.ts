import { at } from "../base/formats/json-access.ts";
import type { McpMessage } from "../base/formats/mcp-messages.ts";
import { printExact } from "../base/formats/plain-json.ts";

/** Knows which calls the agent cancelled, so that an answer that still comes is seen as late. */
export class CallTracker {
  readonly #cancelled = new Set<string>();

  toServer(messages: readonly McpMessage[]): void {
    for (const message of messages) {
      // An id that is used again names a new call.
      if (message.kind === "request") this.#cancelled.delete(message.id);
      if (message.kind !== "notification" || message.method !== "notifications/cancelled") continue;
      const id = at(message.params, "requestId");
      if (id !== undefined) this.#cancelled.add(printExact(id));
    }
  }

  /** False while no call is cancelled: no answer can be late then, and none need be read for it. */
  get expectsLate(): boolean {
    return this.#cancelled.size > 0;
  }

  isLate(messages: readonly McpMessage[]): boolean {
    return messages.some(
      (message) =>
        (message.kind === "result" || message.kind === "error") &&
        message.id !== null &&
        this.#cancelled.has(message.id),
    );
  }
}

/** The tool calls among some messages. */
export function toolCalls(messages: readonly McpMessage[]): Extract<McpMessage, { kind: "request" }>[] {
  return messages.filter((message) => message.kind === "request").filter((message) => message.method === "tools/call");
}
