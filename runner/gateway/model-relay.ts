import type { ServerResponse } from "node:http";
import { messageOf } from "../base/errors.ts";
import { billedUsage } from "../base/formats/billed-usage.ts";
import { costOf } from "../base/formats/cost.ts";
import type { GatewayModel } from "../base/formats/gateway-config.ts";
import { type ModelAnswer, readModelAnswer } from "../base/formats/model-response.ts";
import { isProviderStatus } from "../base/formats/provider-status.ts";
import type { Ended, Usage } from "../base/formats/trace-events.ts";
import { type Known, unknown } from "../base/unknown.ts";
import { writeChunk } from "./agent-gone.ts";
import { answerJson, apiError } from "./api-errors.ts";
import type { Reservation } from "./budget-ledger.ts";
import { headerValue, recordedHeaders } from "./headers.ts";
import type { ModelCall, Provider, ProviderAnswer, ProviderFailure } from "./provider.ts";
import { isServiceError } from "./provider-failure.ts";
import type { Recorder } from "./recorder.ts";
import type { Session } from "./session.ts";

export interface Relay {
  readonly session: Session;
  readonly model: GatewayModel;
  readonly provider: Provider;
  readonly recorder: Recorder | null;
  readonly call: ModelCall;
  readonly exchange: string;
  /** When the request arrived, in the evidence's microseconds. */
  readonly arrived: number;
  readonly reserved: Reservation;
  /** Aborted when the agent went away. */
  readonly gone: AbortSignal;
  readonly response: ServerResponse;
}

/** Asks the provider, relays the answer as it comes, records it whole and settles the budgets. */
export async function relayAnswer(relay: Relay): Promise<void> {
  const { provider, call, response } = relay;
  const answer = await provider.ask(call);
  if (isFailure(answer)) {
    const ended = endOf(relay);
    // An abort of our own is no failure of the provider's.
    if (ended !== "upstream-failed") {
      recordAnswer(relay, null, Buffer.alloc(0), ended, null);
      response.destroy();
      return;
    }
    fail(relay, answer.cause, null, null, answer.detail, answer.requestDigest);
    answerJson(response, 502, apiError(call.api, 502, "provider_error", answer.detail));
    return;
  }
  const { chunks, ended, firstByteMicros, detail } = await pass(relay, answer);
  const bytes = Buffer.concat(chunks);
  const error = recordAnswer(relay, answer, bytes, ended, firstByteMicros);
  if (ended === "complete") relay.recorder?.add(call.api, call.body, { ...answer, bytes });
  const retryAfter = headerValue(answer.headers, "retry-after") ?? null;
  if (isProviderStatus(answer.status)) {
    fail(relay, "status", answer.status, retryAfter, bytes.subarray(0, 500).toString("utf8"), null);
  } else if (ended === "upstream-failed" || ended === "too-large") {
    fail(relay, ended === "too-large" ? "too-large" : "broken-stream", answer.status, retryAfter, detail, null);
  } else if (answer.status < 300 && isServiceError(error)) {
    fail(relay, "broken-stream", answer.status, retryAfter, `${error?.type}: ${error?.message}`, null);
  }
  if (ended === "complete") response.end();
  else if (!response.writableEnded) response.destroy();
}

async function pass(relay: Relay, answer: ProviderAnswer) {
  const { session, response } = relay;
  const limit = session.config.limits.responseBytes;
  const chunks: Buffer[] = [];
  let length = 0;
  let ended: Ended = "complete";
  let firstByteMicros: number | null = null;
  let detail = "";
  response.sendDate = false;
  response.writeHead(answer.status, answer.headers.flat());
  response.flushHeaders();
  try {
    for await (const chunk of answer.chunks) {
      firstByteMicros ??= session.evidence.micros() - relay.arrived;
      length += chunk.length;
      if (length > limit) {
        ended = "too-large";
        detail = `the answer is larger than ${limit} bytes`;
        break;
      }
      chunks.push(chunk);
      await writeChunk(response, chunk);
    }
  } catch (thrown) {
    ended = endOf(relay);
    detail = messageOf(thrown) || String(thrown);
  }
  return { chunks, ended, firstByteMicros, detail };
}

/** Returns the error that the answer's body carries. */
function recordAnswer(
  relay: Relay,
  answer: ProviderAnswer | null,
  bytes: Buffer,
  ended: Ended,
  firstByteMicros: number | null,
): ModelAnswer["error"] {
  const { session, call, exchange, provider } = relay;
  const cut = unknown("truncated", "the request was cut before an answer came");
  const stream = answer !== null && isStream(answer);
  const read = answer === null ? null : readModelAnswer(call.api, bytes, stream);
  const usage = billedUsage(answer?.status ?? null, read);
  const cost = settle(relay, usage);
  session.evidence.emit({
    type: "model-response",
    exchange,
    source: provider.source,
    status: answer?.status ?? null,
    headers: recordedHeaders(answer?.headers ?? []),
    body: session.evidence.body(bytes),
    stream,
    ended,
    firstByteMicros: firstByteMicros ?? unknown("missing", "no byte of an answer came"),
    usage,
    observedModel: read?.model ?? cut,
    costMicroUsd: provider.source === "live" ? cost : 0,
  });
  return read?.error ?? null;
}

/** Settles the budgets by the study's prices, for replays too: a recorded usage counts like a live one. */
function settle({ session, model, reserved, exchange }: Relay, usage: Usage): Known<number> {
  const cost = costOf(usage, model.pricesMicroUsdPerMTok);
  for (const passed of session.ledger.settle(reserved, usage, cost)) session.exhaust(passed, exchange, "overrun");
  return cost;
}

function fail(
  { session, exchange }: Relay,
  cause: ProviderFailure["cause"],
  status: number | null,
  retryAfter: string | null,
  detail: string,
  requestDigest: ProviderFailure["requestDigest"],
): void {
  session.evidence.emit({ type: "provider-error", exchange, cause, status, retryAfter, detail, requestDigest });
  session.notify({ notice: "provider-error", exchange, cause, status, retryAfter, detail: detail.slice(0, 500) });
}

function endOf({ gone, session }: Relay): Ended {
  // The cut ends the agent's connection too, so it is asked for first.
  return session.cut.aborted ? "cut" : gone.aborted ? "agent-gone" : "upstream-failed";
}

function isFailure(answer: ProviderAnswer | ProviderFailure): answer is ProviderFailure {
  return "cause" in answer;
}

function isStream(answer: Pick<ProviderAnswer, "headers">): boolean {
  return (headerValue(answer.headers, "content-type") ?? "").toLowerCase().startsWith("text/event-stream");
}
