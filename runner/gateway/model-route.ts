import type { IncomingMessage, ServerResponse } from "node:http";
import { digestJson } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import type { ModelApi } from "../base/formats/common.ts";
import type { GatewayModel } from "../base/formats/gateway-config.ts";
import { at } from "../base/formats/json-access.ts";
import { offeredToolNames } from "../base/formats/model-request.ts";
import { plainJson } from "../base/formats/plain-json.ts";
import { judgeSettings, type Violation } from "../base/formats/request-settings.ts";
import { judgeToolNames } from "../base/formats/tool-naming.ts";
import type { TraceEventOf } from "../base/formats/trace-events.ts";
import type { ExactJson } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import { agentGone } from "./agent-gone.ts";
import { withStreamUsage } from "./amend-usage.ts";
import { answerJson, apiError } from "./api-errors.ts";
import { estimate } from "./budget-ledger.ts";
import { headerPairs, recordedHeaders } from "./headers.ts";
import { relayAnswer } from "./model-relay.ts";
import type { Provider } from "./provider.ts";
import { readBody } from "./read-body.ts";
import type { Recorder } from "./recorder.ts";
import { maxOutputTokens, refusalOf } from "./request-rules.ts";
import type { Session } from "./session.ts";

type Reason = TraceEventOf<"model-refused">["reason"];

export interface ModelRoute {
  readonly session: Session;
  readonly model: GatewayModel | null;
  readonly provider: Provider | null;
  /** Not null: whole exchanges are recorded as a cassette. */
  readonly recorder: Recorder | null;
}

/** One request of the agent to a model API: checked, charged, sent, relayed and recorded. */
export async function handleModel(
  { session, model, provider, recorder }: ModelRoute,
  request: IncomingMessage,
  response: ServerResponse,
  api: ModelApi,
  path: string,
): Promise<void> {
  const { config, evidence } = session;
  const exchange = session.nextExchange();
  const arrived = evidence.micros();
  let bytes: Buffer | null = null;
  const refuse = (reason: Reason, status: number, detail: string, code: string = reason) => {
    const body = bytes === null ? null : evidence.body(bytes);
    evidence.emit({ type: "model-refused", exchange, api, path, reason, detail, status, body });
    answerJson(response, status, apiError(api, status, code, detail));
  };

  const read = await readBody(request, config.limits.requestBytes);
  if (read === "gone") return;
  if (read === "too-large") {
    response.setHeader("connection", "close");
    return refuse("too-large", 413, `more than ${config.limits.requestBytes} bytes`);
  }
  bytes = read;
  if (model === null || provider === null) return refuse("no-model", 404, "this trial has no model");
  if (session.phase !== "open") return refuse("closed", 503, "the trial is not running");
  session.once("agent-request", { notice: "agent-request", api, micros: arrived });
  if (request.method !== "POST") return refuse("method", 405, `expected POST, got ${request.method}`);
  let body: ExactJson;
  try {
    // Duplicate keys are refused with the rest: two readers could take two different requests out of the same bytes.
    body = parseExactJson(read, { source: "the request", maxDepth: 256 });
  } catch (thrown) {
    return refuse("malformed", 400, messageOf(thrown));
  }
  const refusal = refusalOf(api, body, model);
  if (refusal !== null) return refuse(refusal.reason, refusal.status, refusal.detail);

  const names = offeredToolNames(api, body);
  evidence.emit({ type: "tools-offered", exchange, names, digest: digestJson(plainJson(at(body, "tools") ?? null)) });
  if (config.tools !== null && names.length > 0) {
    const expected = { condition: config.scope.condition, ...config.tools };
    const [first, ...more] = [
      ...judgeToolNames(names, expected).map((detail): Violation => ({ kind: "tools", detail })),
      ...judgeSettings(api, body, expected),
    ];
    if (first !== undefined) {
      const { kind } = first;
      const detail = [first, ...more].map((violation) => violation.detail).join("; ");
      evidence.emit({ type: "condition-violation", exchange, kind, detail });
      session.once("condition-violation", { notice: "condition-violation", kind, detail });
      return refuse("condition", 403, detail, "condition_violation");
    }
  }

  const amended = api === "chat" ? withStreamUsage(body, read) : null;
  const outgoing = amended ?? read;
  const reserved = estimate(
    outgoing.length,
    maxOutputTokens(api, body) ?? model.maxOutputTokens,
    model.pricesMicroUsdPerMTok,
  );
  const exhausted = session.ledger.reserve(reserved);
  if (exhausted !== null) {
    session.exhaust(exhausted, exchange);
    return refuse(
      "budget",
      429,
      `the trial's budget ${exhausted.budget} of ${exhausted.limit} is exhausted`,
      "budget_exhausted",
    );
  }

  const headers = headerPairs(request.rawHeaders);
  const stream = at(body, "stream") === true;
  evidence.emit({
    type: "model-request",
    exchange,
    api,
    method: "POST",
    path,
    headers: recordedHeaders(headers),
    body: evidence.body(read),
    stream,
    amended: amended === null ? null : "stream_options.include_usage",
    reserved,
  });
  const gone = agentGone(response);
  const search = path.includes("?") ? path.slice(path.indexOf("?")) : "";
  const call = { api, search, headers, bytes: outgoing, body, stream, signal: AbortSignal.any([gone, session.cut]) };
  await relayAnswer({ session, model, provider, recorder, call, exchange, arrived, reserved, gone, response });
}
