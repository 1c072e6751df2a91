import { z } from "zod";
import { type Digest, isDigest } from "../base/digest.ts";
import type { Outcome, Scope } from "./call.ts";

/** First line of a cassette. */
export interface CassetteHeader {
  readonly cassette: "jacobian-runner-proof/1";
  /** `recorded` from an endpoint, or `scripted` by hand. */
  readonly source: "recorded" | "scripted";
  readonly note?: string | undefined;
}

/** One call of a cassette: its scope, its request, and what it came to. */
export interface CassetteEntry {
  readonly scope: Scope;
  /** Digest of the request body; null in a scripted entry that answers whatever is asked in its scope. */
  readonly request: Digest | null;
  readonly outcome: Outcome;
}

export const headerSchema: z.ZodType<CassetteHeader> = z.strictObject({
  cassette: z.literal("jacobian-runner-proof/1"),
  source: z.enum(["recorded", "scripted"]),
  note: z.string().optional(),
});

export const scopeSchema: z.ZodType<Scope> = z.strictObject({
  item: z.string().min(1),
  sample: z.int().min(0),
  role: z.enum(["policy", "verifier", "meta"]),
  repeat: z.int().min(0),
});

export const outcomeSchema: z.ZodType<Outcome> = z
  .strictObject({
    error: z.string().nullable(),
    body: z.string().nullable(),
    attempts: z.int().min(1),
    micros: z.int().min(0),
    redacted: z.boolean(),
  })
  .refine((outcome) => (outcome.error === null) === (outcome.body !== null), "has either an error or a body");

export const digestSchema = z.custom<Digest>(isDigest, "expected sha256: and 64 lower-case hex digits");

export const entrySchema: z.ZodType<CassetteEntry> = z.strictObject({
  scope: scopeSchema,
  request: digestSchema.nullable(),
  outcome: outcomeSchema,
});

/** The key under which a scope is looked up. */
export function scopeKey(scope: Scope): string {
  return JSON.stringify([scope.item, scope.sample, scope.role, scope.repeat]);
}
