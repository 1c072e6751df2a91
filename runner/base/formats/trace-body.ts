import { z } from "zod";
import { digestBytes } from "../digest.ts";
import { countSchema, digestSchema } from "./common.ts";

/** Bodies up to this many bytes stand in the trace; larger ones are objects. */
export const INLINE_BODY_BYTES = 8 * 1024;

/**
 * Exact bytes: `text` when they are UTF-8, `base64` when they are not, and `object` when they lie in `objects/<hex of the digest>`.
 * `redacted` counts secrets that were replaced before anything was written (0 nearly always).
 */
export const traceBodySchema = z
  .strictObject({
    bytes: countSchema,
    digest: digestSchema,
    text: z.string().exactOptional(),
    base64: z.string().exactOptional(),
    object: z.literal(true).exactOptional(),
    redacted: countSchema.default(0),
  })
  .refine(
    (body) => [body.text, body.base64, body.object].filter((form) => form !== undefined).length === 1,
    "expected exactly one of text, base64, object",
  );
export type TraceBody = z.infer<typeof traceBodySchema>;

/** The name of a body's object file below `objects/`. */
export function objectName(body: TraceBody): string {
  return body.digest.slice("sha256:".length);
}

/** The trace's form of some bytes. Large ones must be stored by the caller under {@link objectName}. */
export function makeBody(bytes: Uint8Array, redacted = 0): TraceBody {
  const base = { bytes: bytes.byteLength, digest: digestBytes(bytes), redacted };
  if (bytes.byteLength > INLINE_BODY_BYTES) return { ...base, object: true };
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString("utf8");
  return Buffer.from(text, "utf8").equals(buffer) ? { ...base, text } : { ...base, base64: buffer.toString("base64") };
}
