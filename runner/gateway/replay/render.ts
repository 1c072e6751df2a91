import type { ExactResponse, Reply } from "../../base/formats/cassette.ts";
import type { GatewayConfig } from "../../base/formats/gateway-config.ts";
import { listAt, textAt } from "../../base/formats/json-access.ts";
import { offeredToolNames, offeredTools } from "../../base/formats/model-request.ts";
import { nameForModel } from "../../base/formats/tool-naming.ts";
import type { Json } from "../../base/json.ts";
import type { ModelCall, ProviderAnswer } from "../provider.ts";
import { chatDocument, chatEvents } from "./render-chat.ts";
import { messagesDocument, messagesEvents } from "./render-messages.ts";
import { responsesDocument, responsesEvents } from "./render-responses.ts";

/** A reply with the names that this request's tools have, and ids that no other turn of the conversation uses. */
export interface PreparedReply extends Omit<Reply, "toolCalls"> {
  readonly model: string;
  readonly turn: number;
  readonly toolCalls: readonly {
    readonly id: string;
    readonly name: string;
    readonly namespace: string | null;
    readonly arguments: { readonly [key: string]: Json };
  }[];
}

export type StreamEvent = { readonly event: string | null; readonly data: Json | "[DONE]" };

/** Renders a reply in the API of the request, streamed when the request asks for a stream. */
export function renderReply(reply: Reply, call: ModelCall, turn: number, config: GatewayConfig): ProviderAnswer {
  const prepared = prepare(reply, call, turn, config);
  const render = {
    chat: { document: chatDocument, events: chatEvents },
    responses: { document: responsesDocument, events: responsesEvents },
    messages: { document: messagesDocument, events: messagesEvents },
  }[call.api];
  if (!call.stream) return answer(200, "application/json", JSON.stringify(render.document(prepared)));
  const text = render.events(prepared).map(({ event, data }) => {
    const payload = data === "[DONE]" ? data : JSON.stringify(data);
    return `${event === null ? "" : `event: ${event}\n`}data: ${payload}\n\n`;
  });
  return answer(200, "text/event-stream; charset=utf-8", text.join(""));
}

/** Renders an answer that a cassette holds byte for byte, or as JSON. */
export function renderExact({ status, headers, text, base64, json }: ExactResponse): ProviderAnswer {
  const type = Object.keys(headers).some((name) => name.toLowerCase() === "content-type") ? null : "application/json";
  const body =
    base64 === undefined ? (text ?? (json === undefined ? "" : JSON.stringify(json))) : Buffer.from(base64, "base64");
  const rendered = answer(status, type, body);
  const own = Object.entries(headers).map(([name, value]): [string, string] => [name.toLowerCase(), value]);
  return { ...rendered, headers: [...own, ...rendered.headers] };
}

function answer(status: number, contentType: string | null, body: string | Buffer): ProviderAnswer {
  return {
    status,
    headers: contentType === null ? [] : [["content-type", contentType]],
    chunks: (async function* () {
      yield typeof body === "string" ? Buffer.from(body, "utf8") : body;
    })(),
  };
}

function prepare(reply: Reply, call: ModelCall, turn: number, { tools, model }: GatewayConfig): PreparedReply {
  const offered = offeredToolNames(call.api, call.body);
  return {
    ...reply,
    model: model?.id ?? "",
    turn,
    toolCalls: reply.toolCalls.map(({ name, arguments: given }, index) => {
      const known = offered.includes(name) || tools === null || !tools.serverTools.includes(name);
      const seen = known ? name : nameForModel(name, tools.naming);
      return { id: `call_${turn}_${index + 1}`, arguments: given, ...placeOf(seen, call) };
    }),
  };
}

/** A tool that stands in a Responses namespace is called by its name there. */
function placeOf(name: string, { api, body }: ModelCall): { name: string; namespace: string | null } {
  for (const tool of offeredTools(api, body)) {
    if (textAt(tool, "type") !== "namespace") continue;
    const namespace = textAt(tool, "name") ?? "";
    if (!name.startsWith(`${namespace}__`)) continue;
    const inner = name.slice(namespace.length + 2);
    if (listAt(tool, "tools").some((member) => textAt(member, "name") === inner)) return { name: inner, namespace };
  }
  return { name, namespace: null };
}
