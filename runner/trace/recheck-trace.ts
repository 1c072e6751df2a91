import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { digestJson } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { billedUsage } from "../base/formats/billed-usage.ts";
import type { Prices } from "../base/formats/budgets.ts";
import { costOf } from "../base/formats/cost.ts";
import { at } from "../base/formats/json-access.ts";
import { offeredToolNames } from "../base/formats/model-request.ts";
import { readModelAnswer } from "../base/formats/model-response.ts";
import { plainJson } from "../base/formats/plain-json.ts";
import type { TraceBody } from "../base/formats/trace-body.ts";
import type { TraceEvent, TraceEventOf } from "../base/formats/trace-events.ts";
import { isUnknown } from "../base/unknown.ts";
import { bodyBytes, bodyJson, type ReadObject } from "./trace-bodies.ts";

/**
 * Derives again what the gateway wrote beside the bytes it saw: the tools that each request offered, the usage, the model and the
 * cost of each answer, and the totals of each MCP exchange. Returns a sentence for everything that the bytes do not say. Bodies that are not in the
 * evidence, or had secrets taken out, say nothing.
 */
export function recheckTrace(events: readonly TraceEvent[], readObject: ReadObject): string[] {
  const offers = new Map<string, TraceEventOf<"tools-offered">>();
  const requests = new Map<string, TraceEventOf<"model-request">>();
  const exchanges = new Map<string, { server: Buffer[]; agent: Buffer[]; partial: boolean }>();
  const reasons: string[] = [];
  const read = (body: TraceBody): Buffer | null => {
    const bytes = bodyBytes(body, readObject);
    if (isUnknown(bytes)) {
      reasons.push(bytes.detail ?? bytes.unknown);
      return null;
    }
    return body.redacted > 0 ? null : bytes;
  };
  const start = events.find((event) => event.type === "start");
  const prices = start?.prices ?? null;
  const steps: { readonly [T in TraceEvent["type"]]?: (event: TraceEventOf<T>) => string[] } = {
    "tools-offered": (event) => {
      if (offers.has(event.exchange)) return ["tools are offered twice"];
      offers.set(event.exchange, event);
      return [];
    },
    "model-request": (event) => {
      if (requests.has(event.exchange)) return ["it is requested twice"];
      requests.set(event.exchange, event);
      const bytes = read(event.body);
      return bytes === null ? [] : checkOffer(event, offers.get(event.exchange), bytes);
    },
    "model-response": (event) => {
      const request = requests.get(event.exchange);
      if (request === undefined) return ["it is answered and was not requested"];
      const bytes = read(event.body);
      return [...(bytes === null ? [] : checkAnswer(event, request, bytes)), ...checkCost(event, prices)];
    },
    "mcp-request": (event) => {
      exchanges.set(event.exchange, { server: [], agent: [], partial: false });
      return [];
    },
    "mcp-frame": (event) => {
      const exchange = exchanges.get(event.exchange);
      if (exchange === undefined) return ["a frame belongs to no request"];
      const bytes = read(event.body);
      if (bytes === null) exchange.partial = true;
      else exchange[event.to].push(bytes);
      return [];
    },
    "mcp-end": (event) => {
      const exchange = exchanges.get(event.exchange);
      if (exchange === undefined) return ["it ends and has no request"];
      if (exchange.partial) return [];
      return [
        ...checkTotal("to the server", event.toServer, exchange.server),
        ...checkTotal("to the agent", event.toAgent, exchange.agent),
      ];
    },
  };
  for (const event of events) {
    const step = steps[event.type] as ((event: TraceEvent) => string[]) | undefined;
    if (step === undefined) continue;
    const place = `event ${event.seq}${"exchange" in event ? ` (${event.exchange})` : ""}`;
    try {
      const before = reasons.length;
      const found = step(event);
      reasons.push(...found);
      for (let index = before; index < reasons.length; index += 1) reasons[index] = `${place}: ${reasons[index]}`;
    } catch (thrown) {
      reasons.push(`${place}: ${messageOf(thrown)}`);
    }
  }
  return reasons;
}

function checkOffer(
  { api }: TraceEventOf<"model-request">,
  offer: TraceEventOf<"tools-offered"> | undefined,
  bytes: Buffer,
): string[] {
  if (offer === undefined) return ["no event says which tools it offered"];
  const body = bodyJson(bytes, "the request");
  const names = offeredToolNames(api, body);
  const reasons: string[] = [];
  if (!isDeepStrictEqual(names, offer.names))
    reasons.push(
      `the request offers ${names.join(", ") || "no tool"}, the trace says ${offer.names.join(", ") || "none"}`,
    );
  if (digestJson(plainJson(at(body, "tools") ?? null)) !== offer.digest)
    reasons.push("the digest of the offered tools is not the request's");
  return reasons;
}

function checkAnswer(
  event: TraceEventOf<"model-response">,
  { api }: TraceEventOf<"model-request">,
  bytes: Buffer,
): string[] {
  const answer = event.status === null ? null : readModelAnswer(api, bytes, event.stream);
  const usage = billedUsage(event.status, answer);
  const reasons: string[] = [];
  if (!isDeepStrictEqual(usage, event.usage))
    reasons.push(`the answer's usage is ${JSON.stringify(usage)}, the trace says ${JSON.stringify(event.usage)}`);
  if (answer !== null && !isDeepStrictEqual(answer.model, event.observedModel))
    reasons.push(
      `the answer names the model ${JSON.stringify(answer.model)}, the trace says ${JSON.stringify(event.observedModel)}`,
    );
  return reasons;
}

/** A replay costs nothing; a live answer costs what its usage comes to at the prices that the gateway was started with. */
function checkCost({ source, usage, costMicroUsd }: TraceEventOf<"model-response">, prices: Prices | null): string[] {
  if (source !== "live") return costMicroUsd === 0 ? [] : ["a replayed answer cost money"];
  const cost = costOf(usage, prices);
  return isDeepStrictEqual(cost, costMicroUsd)
    ? []
    : [
        `the answer costs ${JSON.stringify(cost)} micro-dollars by its usage, the trace says ${JSON.stringify(costMicroUsd)}`,
      ];
}

function checkTotal(way: string, said: { bytes: number; digest: string }, frames: readonly Buffer[]): string[] {
  const hash = createHash("sha256");
  let bytes = 0;
  for (const frame of frames) {
    hash.update(frame);
    bytes += frame.length;
  }
  return bytes === said.bytes && `sha256:${hash.digest("hex")}` === said.digest
    ? []
    : [`the frames ${way} are ${bytes} bytes and not the ${said.bytes} bytes that the exchange ended with`];
}
