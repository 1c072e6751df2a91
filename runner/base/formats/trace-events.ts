import { z } from "zod";
import { budgetNameSchema, budgetsSchema, pricesSchema } from "./budgets.ts";
import {
  countSchema,
  digestSchema,
  knownCountSchema,
  knownTextSchema,
  modelApiSchema,
  modelSourceSchema,
} from "./common.ts";
import { trialScopeSchema } from "./gateway-config.ts";
import { preflightCodeSchema, providerCauseSchema, traceCountsSchema } from "./gateway-protocol.ts";
import { traceBodySchema } from "./trace-body.ts";

/** Headers by allow-list: names in lower case, in the order of arrival. */
const headersSchema = z.array(z.tuple([z.string(), z.string()]));

/**
 * Tokens of one request. In every API `input` includes `cachedInput` (read from a cache) and `cacheWriteInput` (written to one), and
 * `output` includes `reasoning`.
 */
export const usageSchema = z.strictObject({
  input: knownCountSchema,
  cachedInput: knownCountSchema,
  cacheWriteInput: knownCountSchema,
  output: knownCountSchema,
  reasoning: knownCountSchema,
});
export type Usage = z.infer<typeof usageSchema>;

/** How an exchange ended: whole; the agent or the other side went away; a deadline or the end of the agent cut it; a cap was met. */
const endedSchema = z.enum(["complete", "agent-gone", "upstream-failed", "cut", "too-large"]);
export type Ended = z.infer<typeof endedSchema>;

/** `seq` counts from 0 without gaps; `us` are microseconds since the gateway's start, monotonic. */
const stamp = { seq: countSchema, us: countSchema };
const exchange = z.string();
const reservationSchema = z.strictObject({ tokens: countSchema, costMicroUsd: countSchema.nullable() });

const events = {
  start: {
    schemaVersion: z.literal("1"),
    gateway: z.string(),
    trialId: z.string(),
    scope: trialScopeSchema,
    wall: z.string(),
    model: z.strictObject({ id: z.string(), baseUrl: z.string().nullable(), source: modelSourceSchema }).nullable(),
    cassetteDigest: digestSchema.nullable(),
    mcpUrl: z.string().nullable(),
    budgets: budgetsSchema,
    prices: pricesSchema.nullable(),
  },
  phase: { phase: z.enum(["listening", "agent-started", "agent-ended", "finish"]) },
  preflight: {
    ok: z.boolean(),
    surfaceDigest: digestSchema.nullable(),
    code: preflightCodeSchema.nullable(),
    detail: z.string().nullable(),
    /** The raw answers to tools/list, page by page. */
    toolPages: z.array(traceBodySchema),
  },
  "model-request": {
    exchange,
    api: modelApiSchema,
    method: z.string(),
    path: z.string(),
    headers: headersSchema,
    body: traceBodySchema,
    stream: z.boolean(),
    /** What the gateway added to the bytes before they went out; null when they went out as they came. */
    amended: z.enum(["stream_options.include_usage"]).nullable(),
    reserved: reservationSchema,
  },
  "tools-offered": {
    exchange,
    /** In the order of the request; a namespace's tools as `<namespace>__<tool>`. */
    names: z.array(z.string()),
    /** Digest of the request's `tools` member, canonical; of null when there is none. */
    digest: digestSchema,
  },
  "model-response": {
    exchange,
    source: modelSourceSchema,
    /** null: no answer came before the request was cut. */
    status: z.int().nullable(),
    headers: headersSchema,
    body: traceBodySchema,
    stream: z.boolean(),
    ended: endedSchema,
    /** From the request's arrival to the answer's first byte. */
    firstByteMicros: knownCountSchema,
    usage: usageSchema,
    observedModel: knownTextSchema,
    /** Money spent: a known 0 for a replay, unknown without prices or usage. */
    costMicroUsd: knownCountSchema,
  },
  "model-refused": {
    exchange,
    api: modelApiSchema,
    path: z.string(),
    reason: z.enum([
      "no-model",
      "closed",
      "api",
      "method",
      "too-large",
      "malformed",
      "wrong-model",
      "hosted-tool",
      "hosted-feature",
      "remote-content",
      "several-answers",
      "budget",
      "condition",
    ]),
    detail: z.string(),
    status: z.int(),
    body: traceBodySchema.nullable(),
  },
  "provider-error": {
    exchange,
    cause: providerCauseSchema,
    status: z.int().nullable(),
    retryAfter: z.string().nullable(),
    detail: z.string(),
    /** Canonical digest of the request under the cassette's normalizers; null for a live provider. */
    requestDigest: digestSchema.nullable(),
  },
  "mcp-request": { exchange, method: z.string(), path: z.string(), headers: headersSchema },
  /**
   * Exact bytes of one piece of an MCP exchange: the whole body, or one server-sent event with the blank line that ends it. The frames of
   * one direction, joined, are that direction's bytes. `late`: it answers a call that was cancelled before.
   */
  "mcp-frame": {
    exchange,
    to: z.enum(["server", "agent"]),
    form: z.enum(["body", "sse"]),
    body: traceBodySchema,
    late: z.boolean().default(false),
  },
  "mcp-response": { exchange, status: z.int(), headers: headersSchema },
  "mcp-end": {
    exchange,
    ended: endedSchema,
    detail: z.string().nullable(),
    toServer: z.strictObject({ bytes: countSchema, digest: digestSchema }),
    toAgent: z.strictObject({ bytes: countSchema, digest: digestSchema }),
  },
  "mcp-refused": {
    exchange,
    method: z.string(),
    path: z.string(),
    reason: z.enum(["control", "closed", "method", "too-large", "budget"]),
    status: z.int(),
    body: traceBodySchema.nullable(),
  },
  budget: {
    budget: budgetNameSchema,
    limit: z.number(),
    used: z.number(),
    reserved: z.number(),
    exchange: exchange.nullable(),
    /** `exhausted`: a request was refused. `overrun`: a settled request had used more than it reserved, and the limit is passed. */
    kind: z.enum(["exhausted", "overrun"]),
  },
  proxy: {
    exchange,
    method: z.string(),
    host: z.string(),
    port: z.int(),
    allowed: z.boolean(),
    rule: z.string().nullable(),
    reason: z.string(),
    address: z.string().nullable(),
  },
  "proxy-end": { exchange, ended: endedSchema, toServerBytes: countSchema, toAgentBytes: countSchema },
  "local-answer": { exchange, method: z.string(), path: z.string(), status: z.int() },
  "request-refused": { exchange, method: z.string(), path: z.string(), status: z.int(), detail: z.string() },
  "condition-violation": { exchange, kind: z.enum(["tools", "effort"]), detail: z.string() },
  /** The last event of a whole trace. */
  end: { counts: traceCountsSchema },
} as const;

function event<T extends keyof typeof events>(type: T) {
  return z.strictObject({ ...stamp, type: z.literal(type), ...events[type] });
}

/** One line of `trace.jsonl`. */
export const traceEventSchema = z.discriminatedUnion("type", [
  event("start"),
  event("phase"),
  event("preflight"),
  event("model-request"),
  event("tools-offered"),
  event("model-response"),
  event("model-refused"),
  event("provider-error"),
  event("mcp-request"),
  event("mcp-frame"),
  event("mcp-response"),
  event("mcp-end"),
  event("mcp-refused"),
  event("budget"),
  event("proxy"),
  event("proxy-end"),
  event("local-answer"),
  event("request-refused"),
  event("condition-violation"),
  event("end"),
]);
export type TraceEvent = z.infer<typeof traceEventSchema>;
export type TraceEventType = TraceEvent["type"];
export type TraceEventOf<T extends TraceEventType> = Extract<TraceEvent, { type: T }>;

/** An event before it is stamped. */
export type UnstampedEvent = {
  [T in TraceEventType]: Omit<Extract<TraceEvent, { type: T }>, "seq" | "us">;
}[TraceEventType];
