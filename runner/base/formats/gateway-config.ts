import { z } from "zod";
import { budgetsSchema, pricesSchema } from "./budgets.ts";
import { normalizersSchema } from "./cassette.ts";
import { conditionSchema, modelApiSchema } from "./common.ts";
import { toolNamingSchema } from "./tool-naming.ts";

/** Where files and the listener are inside the gateway's container. */
export const GATEWAY_PATHS = {
  config: "/run/gateway/config.json",
  cassette: "/run/gateway/cassette.json",
  evidence: "/evidence",
  port: 8080,
  /** The program itself, for a survey beside the gateway. */
  program: "/opt/gateway/gateway.mjs",
} as const;

/** What a trial is, for cassettes and for the trace. */
export const trialScopeSchema = z.strictObject({
  task: z.string().min(1),
  condition: conditionSchema,
  /** From 1. */
  repetition: z.int().positive(),
});
export type TrialScope = z.infer<typeof trialScopeSchema>;

const modelSchema = z.strictObject({
  /** The only model that may be asked for. */
  id: z.string().min(1),
  /** The only API that may be used; null allows all three. */
  api: modelApiSchema.nullable().default(null),
  /** The provider's base URL including its version, such as `https://api.openai.com/v1`; null when a cassette answers. */
  baseUrl: z.url({ protocol: /^https?$/ }).nullable(),
  /** Sent as Bearer (chat, responses) or x-api-key (messages); null sends none. */
  apiKey: z.string().min(8).nullable().default(null),
  /** Certificates (PEM) trusted beside Node's own. */
  caPem: z.string().nullable().default(null),
  /** Needed by a cost budget. */
  pricesMicroUsdPerMTok: pricesSchema.nullable().default(null),
  /** Output tokens that are reserved for a request that names no maximum of its own. */
  maxOutputTokens: z.int().positive().default(32_768),
});
export type GatewayModel = z.infer<typeof modelSchema>;

const mcpSchema = z.strictObject({ url: z.url({ protocol: /^https?$/ }) });

const proxySchema = z.strictObject({
  /**
   * Exact host, `*.host` (any depth below, not the host itself), an address, or a CIDR block; each with an optional `:port`
   * (IPv6 in brackets). Without a port, 80 and 443.
   */
  allow: z.array(z.string().min(1)),
});
export type GatewayProxy = z.infer<typeof proxySchema>;

export const gatewayLimitsSchema = z.strictObject({
  /** Everything under /evidence. Reaching it is fatal, never silent. */
  evidenceBytes: z
    .int()
    .positive()
    .default(1024 * 1024 * 1024),
  requestBytes: z
    .int()
    .positive()
    .default(32 * 1024 * 1024),
  responseBytes: z
    .int()
    .positive()
    .default(64 * 1024 * 1024),
  headerBytes: z
    .int()
    .positive()
    .default(32 * 1024),
  connections: z.int().positive().default(128),
  /** Time for a client to send its headers, and its whole request. */
  requestMillis: z.int().positive().default(60_000),
  /** Time for each answer at preflight. */
  preflightMillis: z.int().positive().default(60_000),
  preflightPages: z.int().positive().default(100),
});
export type GatewayLimits = z.infer<typeof gatewayLimitsSchema>;

/** The whole of `/run/gateway/config.json`. It may hold the provider's key: it never goes to a log, a label or an environment. */
export const gatewayConfigSchema = z
  .strictObject({
    schemaVersion: z.literal("1"),
    trialId: z.string().min(1),
    scope: trialScopeSchema,
    /** null: the agent is not driven by a model, and every model route is refused. */
    model: modelSchema.nullable(),
    /** True: `/run/gateway/cassette.json` answers instead of the provider. */
    replay: z.boolean().default(false),
    /** Not null: the live conversation is written to `/evidence/cassette.json` under these normalizers. */
    record: z.strictObject({ normalizers: normalizersSchema }).nullable().default(null),
    /** null: there is no MCP route (control). */
    mcp: mcpSchema.nullable(),
    /**
     * Not null: a model request that offers other tools than these, or asks for another effort, is refused before it goes out, and
     * `condition-violation` is said. `serverTools` are the names in the locked surface, in control too.
     */
    tools: z
      .strictObject({
        naming: toolNamingSchema,
        serverTools: z.array(z.string()),
        /** The study's word; null leaves it to the agent. */
        reasoningEffort: z.string().nullable().default(null),
      })
      .nullable()
      .default(null),
    budgets: budgetsSchema.prefault({}),
    /**
     * CIDR blocks from which connections are taken, those of the agent's network; null takes all. Others that share a network with the
     * gateway, such as the MCP server, must not reach the model or the forward proxy through it.
     */
    agentNetworks: z
      .array(z.union([z.cidrv4(), z.cidrv6()]))
      .nullable()
      .default(null),
    /** null: no forward proxy. */
    proxy: proxySchema.nullable().default(null),
    limits: gatewayLimitsSchema.prefault({}),
  })
  .superRefine((config, context) => {
    const refuse = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
    if (config.mcp !== null && config.scope.condition === "control") refuse("mcp", "control has no MCP server");
    if (config.replay && config.record !== null) refuse("record", "a replay cannot be recorded");
    if (config.replay && config.model === null) refuse("replay", "a replay needs a model");
    if (!config.replay && config.model !== null && config.model.baseUrl === null)
      refuse("model", "expected a baseUrl, because no cassette answers");
    if (config.budgets.costMicroUsd !== null && config.model !== null && config.model.pricesMicroUsdPerMTok === null)
      refuse("budgets", "a cost budget needs prices");
  });
export type GatewayConfig = z.infer<typeof gatewayConfigSchema>;
/** The config as a caller writes it, with defaults left out. */
export type GatewayConfigInput = z.input<typeof gatewayConfigSchema>;
