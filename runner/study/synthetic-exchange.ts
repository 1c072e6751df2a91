import { TOOLLOOP } from "../agent/toolloop/agent.ts";
import { digestBytes, digestJson } from "../base/digest.ts";
import { readModelAnswer } from "../base/formats/model-response.ts";
import { nameForModel } from "../base/formats/tool-naming.ts";
import type { Evidence } from "../gateway/evidence.ts";
import { FIND_TOOL, RUN_TOOL } from "../trace/operation-stages.ts";
import { SYNTHETIC_MODEL } from "./synthetic-plan.ts";

/** A call that a model was made to write, and its result. */
export interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly result: string;
}

/** The call as the conversation holds it. */
export function assistantMessage({ id, name, arguments: given }: Call): object {
  return {
    role: "assistant",
    content: null,
    tool_calls: [{ id, type: "function", function: { name, arguments: given } }],
  };
}

interface Question {
  readonly names: readonly string[];
  readonly tools: readonly object[];
  readonly messages: readonly object[];
  readonly reply: { readonly text?: string; readonly call?: Call };
}

/** One model request and its answer, as the gateway records them. Gives the usage that the answer states. */
export function ask(evidence: Evidence, exchange: string, { names, tools, messages, reply }: Question): object {
  const request = Buffer.from(
    JSON.stringify({ model: SYNTHETIC_MODEL, messages, tools, max_completion_tokens: 16_384 }),
  );
  const message = reply.call === undefined ? { role: "assistant", content: reply.text } : assistantMessage(reply.call);
  const output = 40 + (reply.call?.arguments.length ?? 0);
  const usage = {
    prompt_tokens: Math.ceil(request.length / 4),
    completion_tokens: output,
    total_tokens: Math.ceil(request.length / 4) + output,
    prompt_tokens_details: { cached_tokens: 64 },
    completion_tokens_details: { reasoning_tokens: 8 },
  };
  const finish = reply.call === undefined ? "stop" : "tool_calls";
  const answer = Buffer.from(
    JSON.stringify({
      id: exchange,
      object: "chat.completion",
      model: SYNTHETIC_MODEL,
      choices: [{ index: 0, message, finish_reason: finish }],
      usage,
    }),
  );
  const json: [string, string][] = [["content-type", "application/json"]];
  evidence.emit({ type: "tools-offered", exchange, names: [...names], digest: digestJson(tools) });
  evidence.emit({
    type: "model-request",
    exchange,
    api: "chat",
    method: "POST",
    path: "/v1/chat/completions",
    headers: json,
    body: evidence.body(request),
    stream: false,
    amended: null,
    reserved: { tokens: Math.ceil(request.length / 3) + 16_384, costMicroUsd: null },
  });
  const read = readModelAnswer("chat", answer, false);
  evidence.emit({
    type: "model-response",
    exchange,
    source: "scripted",
    status: 200,
    headers: json,
    body: evidence.body(answer),
    stream: false,
    ended: "complete",
    firstByteMicros: 1500,
    usage: read.usage,
    observedModel: read.model,
    costMicroUsd: 0,
  });
  return usage;
}

/** One call of the server's tools, as it passes the gateway. */
export function passCall(evidence: Evidence, exchange: string, { id, name, arguments: given, result }: Call): void {
  const wire = [FIND_TOOL, RUN_TOOL].find((tool) => nameForModel(tool, TOOLLOOP.naming("synthetic")) === name) ?? name;
  const request = Buffer.from(
    JSON.stringify({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: wire, arguments: JSON.parse(given) as unknown },
    }),
  );
  const content = { content: [{ type: "text", text: result }], structuredContent: JSON.parse(result) as unknown };
  const event = `event: message\ndata: ${JSON.stringify({ jsonrpc: "2.0", id, result: content })}\n\n`;
  const answer = Buffer.from(event);
  const json: [string, string][] = [["content-type", "application/json"]];
  evidence.emit({ type: "mcp-request", exchange, method: "POST", path: "/mcp", headers: json });
  evidence.countToolCall();
  evidence.emit({
    type: "mcp-frame",
    exchange,
    to: "server",
    form: "body",
    body: evidence.body(request),
    late: false,
  });
  evidence.emit({ type: "mcp-response", exchange, status: 200, headers: [["content-type", "text/event-stream"]] });
  evidence.emit({ type: "mcp-frame", exchange, to: "agent", form: "sse", body: evidence.body(answer), late: false });
  evidence.emit({
    type: "mcp-end",
    exchange,
    ended: "complete",
    detail: null,
    toServer: { bytes: request.length, digest: digestBytes(request) },
    toAgent: { bytes: answer.length, digest: digestBytes(answer) },
  });
}
