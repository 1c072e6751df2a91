import { z } from "zod";
import { type Digest, isDigest } from "../base/digest.ts";

/** A reference to bytes in a bundle's store. */
export interface ObjectRef {
  readonly digest: Digest;
  /** Bytes. */
  readonly size: number;
}

/** A well-formed digest in a record. */
export const digestSchema = z.custom<Digest>(isDigest, "expected sha256: and 64 lower-case hex digits");

/** The closed schema of an {@link ObjectRef}. */
export const objectRefSchema: z.ZodType<ObjectRef> = z.strictObject({ digest: digestSchema, size: z.int().min(0) });

/** Finds every object reference (an object with exactly `digest` and `size`) inside a record. */
export function collectObjectRefs(value: unknown, found: ObjectRef[] = []): ObjectRef[] {
  if (Array.isArray(value)) {
    for (const member of value) collectObjectRefs(member, found);
  } else if (typeof value === "object" && value !== null) {
    const result = objectRefSchema.safeParse(value);
    if (result.success) found.push(result.data);
    else for (const member of Object.values(value)) collectObjectRefs(member, found);
  }
  return found;
}
