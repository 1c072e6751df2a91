import { Agent, request } from "undici";
import { messageOf } from "../../base/errors.ts";
import { assembleStream } from "../../base/formats/assemble-stream.ts";
import { at, listAt, textAt } from "../../base/formats/json-access.ts";
import { isProviderStatus } from "../../base/formats/provider-status.ts";
import { parseServerSentEvents } from "../../base/formats/sse.ts";
import type { ExactJson } from "../../base/json.ts";
import { parseExactJson } from "../../base/strict-json.ts";
import type { ToolloopConfig } from "./config.ts";
import { LoopEnded } from "./ended.ts";
import type { OfferedTool } from "./mcp-tools.ts";

export type ChatMessage = { readonly [key: string]: unknown };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly arguments: string;
}

export interface ChatAnswer {
  readonly text: string;
  readonly refusal: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finish: string | null;
  readonly usage: ExactJson;
  /** The message as it goes into the next request. */
  readonly message: ChatMessage;
}

export interface ChatClient extends AsyncDisposable {
  readonly ask: (messages: readonly ChatMessage[], tools: readonly OfferedTool[]) => Promise<ChatAnswer>;
}

/** Speaks Chat Completions. Every request is sent once: what to do about a failing provider is not the agent's decision. */
export function openChat(config: ToolloopConfig): ChatClient {
  const agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 });
  return {
    [Symbol.asyncDispose]: () => agent.destroy(),
    async ask(messages, tools) {
      const url = `${config.baseUrl.replace(/\/+$/, "")}/chat/completions`;
      let status: number;
      let bytes: Buffer;
      let contentType: string;
      try {
        const answer = await request(url, {
          method: "POST",
          headers: {
            "content-type": "application/json",
            accept: config.stream ? "text/event-stream" : "application/json",
            ...(config.apiKey === null ? {} : { authorization: `Bearer ${config.apiKey}` }),
          },
          body: JSON.stringify(requestBody(config, messages, tools)),
          dispatcher: agent,
        });
        status = answer.statusCode;
        contentType = String(answer.headers["content-type"] ?? "");
        bytes = Buffer.from(await answer.body.arrayBuffer());
      } catch (thrown) {
        throw new LoopEnded("provider", `${url} cannot be reached: ${messageOf(thrown) || String(thrown)}`, thrown);
      }
      if (status >= 400) throw refusedRequest(status, bytes);
      return readAnswer(bytes, contentType.startsWith("text/event-stream"));
    },
  };
}

function requestBody(config: ToolloopConfig, messages: readonly ChatMessage[], tools: readonly OfferedTool[]): object {
  return {
    model: config.model,
    messages,
    tools: tools.map((tool) => ({ type: "function", function: tool })),
    ...(config.maxOutputTokens === null ? {} : { [config.maxTokensField]: config.maxOutputTokens }),
    ...(config.reasoningEffort === null ? {} : { reasoning_effort: config.reasoningEffort }),
    ...(config.stream ? { stream: true, stream_options: { include_usage: true } } : {}),
  };
}

function refusedRequest(status: number, bytes: Buffer): LoopEnded {
  const text = bytes.toString("utf8").slice(0, 1000);
  const budget = status === 429 && text.includes('"budget_exhausted"');
  const reason = budget ? "budget" : isProviderStatus(status) ? "provider" : "rejected";
  return new LoopEnded(reason, `the model API answered ${status}: ${text}`);
}

function readAnswer(bytes: Buffer, stream: boolean): ChatAnswer {
  let document: ExactJson;
  try {
    document = stream
      ? assembleStream("chat", parseServerSentEvents(bytes))
      : parseExactJson(bytes, { source: "the model's answer", maxDepth: 256 });
  } catch (thrown) {
    throw new LoopEnded("provider", messageOf(thrown), thrown);
  }
  const error = at(document, "error");
  if (error !== undefined && error !== null) {
    throw new LoopEnded(
      "provider",
      `the model API answered with an error: ${textAt(error, "message") ?? "no message"}`,
    );
  }
  const message = at(document, "choices", 0, "message");
  if (typeof message !== "object" || message === null) {
    throw new LoopEnded("provider", "the model API answered without a message");
  }
  const calls = listAt(message, "tool_calls");
  const content = textAt(message, "content") ?? null;
  const reasoning = textAt(message, "reasoning_content");
  return {
    text: content ?? "",
    refusal: textAt(message, "refusal") ?? null,
    toolCalls: calls.map((call, index) => ({
      id: textAt(call, "id") ?? `call_${index}`,
      name: textAt(call, "function", "name") ?? "",
      arguments: textAt(call, "function", "arguments") ?? "",
    })),
    finish: textAt(document, "choices", 0, "finish_reason") ?? null,
    usage: at(document, "usage") ?? null,
    message: {
      role: "assistant",
      content,
      ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  };
}
