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
    const ref = asObjectRef(value);
    if (ref !== null) found.push(ref);
    else for (const member of Object.values(value)) collectObjectRefs(member, found);
  }
  return found;
}

/** What {@link objectRefSchema} accepts; a schema takes its time on the many values that are no reference. */
function asObjectRef(value: object): ObjectRef | null {
  const { digest, size } = value as { readonly digest?: unknown; readonly size?: unknown };
  return isDigest(digest) && Number.isSafeInteger(size) && (size as number) >= 0 && Object.keys(value).length === 2
    ? { digest, size: size as number }
    : null;
}
