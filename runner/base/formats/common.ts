import { z } from "zod";
import { type Digest, isDigest } from "../digest.ts";
import type { Json } from "../json.ts";
import type { Known } from "../unknown.ts";

/** `sha256:` and 64 hex digits. */
export const digestSchema = z.custom<Digest>(isDigest, "expected sha256: and 64 lower-case hex digits");

/** Any JSON value, taken as it is: what reaches a schema was read by the strict reader before. */
export const jsonSchema = z.custom<Json>((value) => value !== undefined, "expected a JSON value");

/** A count, a number of bytes, microseconds or micro-dollars. */
export const countSchema = z.int().nonnegative();

export const unknownSchema = z.strictObject({
  unknown: z.enum(["missing", "stale", "truncated", "unavailable"]),
  detail: z.string().exactOptional(),
});

/** A count, or the reason why there is none. */
export const knownCountSchema: z.ZodType<Known<number>> = z.union([countSchema, unknownSchema]);

/** A text, or the reason why there is none. */
export const knownTextSchema: z.ZodType<Known<string>> = z.union([z.string(), unknownSchema]);

/** The model APIs that the gateway speaks: Chat Completions, Responses and Messages. */
export const modelApiSchema = z.enum(["chat", "responses", "messages"]);
export type ModelApi = z.infer<typeof modelApiSchema>;

/** Where model answers come from: a provider, a recorded conversation, or one that was written by hand. */
export const modelSourceSchema = z.enum(["live", "replayed", "scripted"]);
export type ModelSource = z.infer<typeof modelSourceSchema>;

export const conditionSchema = z.enum(["control", "treatment"]);
export type Condition = z.infer<typeof conditionSchema>;
