import { z } from "zod";
import { conditionSchema, countSchema, digestSchema, jsonSchema, modelApiSchema } from "./common.ts";

/** Changes to a request's body before it is compared; the bytes that travel are never changed. */
export const normalizersSchema = z.strictObject({
  /** JSON pointers of members to leave out; a segment `*` stands for every member or element. */
  drop: z.array(z.string().regex(/^(\/[^/]*)+$/, "expected a JSON pointer")).default([]),
  /** Regular expressions (`u` and `g` are set) whose matches in every string of the body are replaced. */
  replace: z.array(z.strictObject({ pattern: z.string().min(1), with: z.string() })).default([]),
});
export type Normalizers = z.infer<typeof normalizersSchema>;

/**
 * One condition that a request must meet. `on` chooses the value: the whole body, what the user said before the model's first turn, or the text of a
 * tool result (`index` 1 is the first in the conversation, -1 the last). `at` goes into it by JSON pointer; a text is read as JSON first.
 * Exactly one of `equals`, `contains`, `matches`.
 */
export const assertionSchema = z
  .strictObject({
    on: z.enum(["body", "instruction", "toolResult"]).default("toolResult"),
    index: z.int().default(-1),
    at: z.string().nullable().default(null),
    equals: jsonSchema.exactOptional(),
    contains: z.string().exactOptional(),
    matches: z.string().exactOptional(),
  })
  .refine(
    (value) => [value.equals, value.contains, value.matches].filter((member) => member !== undefined).length === 1,
    "expected exactly one of equals, contains, matches",
  );
export type Assertion = z.infer<typeof assertionSchema>;

/**
 * Which request an exchange answers: by canonical `digest` or `body`, or by `turn` (1 + the model's turns already in the
 * request) with assertions. `tools` narrows a turn to requests that offer tools, or offer none.
 */
export const matchSchema = z.union([
  z.strictObject({ digest: digestSchema }),
  z.strictObject({ body: jsonSchema }),
  z.strictObject({
    turn: z.int().positive(),
    tools: z.boolean().nullable().default(null),
    expect: z.array(assertionSchema).default([]),
  }),
]);
export type Match = z.infer<typeof matchSchema>;

const usageSchema = z.strictObject({
  input: countSchema,
  cachedInput: countSchema.default(0),
  output: countSchema,
  reasoning: countSchema.default(0),
});

/** An answer in words, rendered in whichever API and mode (streamed or not) the request uses. */
export const replySchema = z.strictObject({
  text: z.string().nullable().default(null),
  toolCalls: z
    .array(z.strictObject({ name: z.string().min(1), arguments: z.record(z.string(), jsonSchema) }))
    .default([]),
  refusal: z.string().nullable().default(null),
  finish: z.enum(["stop", "length", "filter"]).default("stop"),
  usage: usageSchema.nullable().default(null),
});
export type Reply = z.infer<typeof replySchema>;

/** An answer byte for byte (`text`, or `base64` where it is not UTF-8), or as JSON; at most one of them, and none is an empty body. */
export const exactResponseSchema = z
  .strictObject({
    status: z.int().min(200).max(599).default(200),
    headers: z.record(z.string(), z.string()).default({}),
    text: z.string().exactOptional(),
    base64: z.base64().exactOptional(),
    json: jsonSchema.exactOptional(),
  })
  .refine(
    (value) => [value.text, value.base64, value.json].filter((form) => form !== undefined).length <= 1,
    "expected at most one of text, base64, json",
  );
export type ExactResponse = z.infer<typeof exactResponseSchema>;

export const exchangeSchema = z
  .strictObject({
    match: matchSchema,
    reply: replySchema.exactOptional(),
    response: exactResponseSchema.exactOptional(),
  })
  .refine(
    (value) => (value.reply === undefined) !== (value.response === undefined),
    "expected either reply or response",
  );
export type CassetteExchange = z.infer<typeof exchangeSchema>;

/** Which trials a conversation belongs to. The most specific one that fits is taken. */
export const cassetteScopeSchema = z.strictObject({
  task: z.string().min(1),
  condition: z.union([conditionSchema, z.literal("any")]),
  repetition: z.union([z.int().positive(), z.literal("any")]).default("any"),
  api: z.union([modelApiSchema, z.literal("any")]).default("any"),
});
export type CassetteScope = z.infer<typeof cassetteScopeSchema>;

/** A recorded or hand-written stand-in for a model provider. */
export const cassetteSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  modelSource: z.enum(["recorded", "scripted"]),
  /** For people: what this conversation shows. */
  description: z.string().default(""),
  normalizers: normalizersSchema.prefault({}),
  conversations: z
    .array(z.strictObject({ scope: cassetteScopeSchema, exchanges: z.array(exchangeSchema).min(1) }))
    .min(1),
});
export type Cassette = z.infer<typeof cassetteSchema>;
export type CassetteInput = z.input<typeof cassetteSchema>;
