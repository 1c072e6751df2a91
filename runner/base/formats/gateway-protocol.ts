import { z } from "zod";
import { budgetNameSchema } from "./budgets.ts";
import { countSchema, digestSchema, modelApiSchema } from "./common.ts";

/** What the runner says to the gateway: JSON lines on its standard input. */
export const gatewayCommandSchema = z.discriminatedUnion("do", [
  /** Read the config file, which is in place now. */
  z.strictObject({ do: z.literal("configure") }),
  z.strictObject({ do: z.literal("listen") }),
  z.strictObject({ do: z.literal("preflight") }),
  /** Routes open, and the clock of `agentSeconds` starts; said again for the agent of each later step of a task. */
  z.strictObject({ do: z.literal("agent-started") }),
  /** Routes close. */
  z.strictObject({ do: z.literal("agent-ended") }),
  /** Write, close and sync the evidence, say `finished`, exit 0. */
  z.strictObject({ do: z.literal("finish") }),
]);
export type GatewayCommand = z.infer<typeof gatewayCommandSchema>;

/** Why a preflight failed. */
export const preflightCodeSchema = z.enum([
  "unreachable",
  "timeout",
  "unauthorized",
  "misdirected",
  "http-status",
  "protocol-error",
  "endless-paging",
  "too-large",
  "catalog-unreadable",
]);
export type PreflightCode = z.infer<typeof preflightCodeSchema>;

/** Why the provider counts as failed. `cassette-miss` is the replay's form of it. */
export const providerCauseSchema = z.enum(["status", "unreachable", "broken-stream", "too-large", "cassette-miss"]);
export type ProviderCause = z.infer<typeof providerCauseSchema>;

export const traceCountsSchema = z.strictObject({
  events: countSchema,
  modelRequests: countSchema,
  modelRefusals: countSchema,
  providerErrors: countSchema,
  mcpExchanges: countSchema,
  mcpToolCalls: countSchema,
  mcpRefusals: countSchema,
  proxyDecisions: countSchema,
  requestsRefused: countSchema,
});
export type TraceCounts = z.infer<typeof traceCountsSchema>;

/** What the gateway says to the runner: JSON lines on its standard output. */
export const gatewayNoticeSchema = z.discriminatedUnion("notice", [
  /** Started, and waiting for `configure`. */
  z.strictObject({ notice: z.literal("idle"), version: z.string() }),
  z.strictObject({ notice: z.literal("configured") }),
  z.strictObject({ notice: z.literal("ready"), port: z.int() }),
  z.strictObject({
    notice: z.literal("preflight"),
    ok: z.boolean(),
    surfaceDigest: digestSchema.nullable(),
    code: preflightCodeSchema.nullable(),
    detail: z.string().nullable(),
    micros: countSchema,
  }),
  /** The agent's first model request arrived. */
  z.strictObject({ notice: z.literal("agent-request"), api: modelApiSchema, micros: countSchema }),
  /** Said once per budget. */
  z.strictObject({
    notice: z.literal("budget-exhausted"),
    budget: budgetNameSchema,
    limit: z.number(),
    used: z.number(),
  }),
  z.strictObject({
    notice: z.literal("provider-error"),
    cause: providerCauseSchema,
    status: z.int().nullable(),
    retryAfter: z.string().nullable(),
    detail: z.string(),
    exchange: z.string(),
  }),
  z.strictObject({
    notice: z.literal("condition-violation"),
    kind: z.enum(["tools", "effort"]),
    detail: z.string(),
  }),
  /** The MCP server could not be reached, or broke off, while the agent was running. Said once. */
  z.strictObject({ notice: z.literal("mcp-failed"), exchange: z.string(), detail: z.string() }),
  z.strictObject({
    notice: z.literal("finished"),
    counts: traceCountsSchema,
    traceDigest: digestSchema,
    traceBytes: countSchema,
    objects: countSchema,
    evidenceBytes: countSchema,
    surfaceDigest: digestSchema.nullable(),
    /** Exchanges of the trial's conversation that were, and were not, served. */
    cassette: z.strictObject({ served: countSchema, unserved: countSchema }).nullable(),
  }),
  /** The gateway ends with exit code 1; what is under /evidence is incomplete. */
  z.strictObject({
    notice: z.literal("fatal"),
    code: z.enum(["config", "cassette", "command", "listen", "evidence-cap", "evidence-write", "internal"]),
    detail: z.string(),
  }),
]);
export type GatewayNotice = z.infer<typeof gatewayNoticeSchema>;
