import { z } from "zod";
import type { ToolNaming } from "../../base/formats/tool-naming.ts";

/** How the loop shows tools to its model: MCP tools under sanitised names beside its own `shell`. */
export const TOOLLOOP_NAMING: ToolNaming = { prefix: "", sanitise: true, own: ["shell"] };

/** Why the loop ended, by exit code. */
export const TOOLLOOP_EXIT = {
  /** The model answered without calling a tool. */
  finished: 0,
  internal: 1,
  config: 2,
  provider: 10,
  mcp: 11,
  turns: 12,
  /** The model declined, or a filter stopped its answer. */
  refusal: 13,
  /** The answer reached its length limit. */
  length: 14,
  /** An answer with neither text nor tool calls. */
  empty: 15,
  /** The gateway said that a budget is exhausted. */
  budget: 16,
  /** The API refused the request itself. */
  rejected: 17,
} as const;
export type ToolloopEnd = keyof typeof TOOLLOOP_EXIT;

/** The JSON file that the loop is started with. */
export const toolloopConfigSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  instruction: z.string().min(1),
  model: z.string().min(1),
  /** An OpenAI-compatible base URL, its version included. */
  baseUrl: z.url({ protocol: /^https?$/ }),
  /** Sent as Bearer; null sends none (the gateway adds the provider's). */
  apiKey: z.string().min(1).nullable().default(null),
  /** The MCP server's URL; null gives the shell tool only. */
  mcpUrl: z.url({ protocol: /^https?$/ }).nullable(),
  workdir: z.string().startsWith("/"),
  maxTurns: z.int().positive().default(100),
  stream: z.boolean().default(false),
  reasoningEffort: z.string().min(1).nullable().default(null),
  /** null asks for no maximum. */
  maxOutputTokens: z.int().positive().nullable().default(16_384),
  /** Older servers know only `max_tokens`. */
  maxTokensField: z.enum(["max_completion_tokens", "max_tokens"]).default("max_completion_tokens"),
  shellSeconds: z.number().positive().default(120),
  /** Bytes of each output stream of a command that the model gets to see. */
  shellOutputBytes: z
    .int()
    .min(1024)
    .default(16 * 1024),
});
export type ToolloopConfig = z.infer<typeof toolloopConfigSchema>;
/** The config as a caller writes it, with defaults left out. */
export type ToolloopConfigInput = z.input<typeof toolloopConfigSchema>;
