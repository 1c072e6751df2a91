import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import { canonicalBytes } from "./canonical-json.ts";

/** `sha256:` and 64 lower-case hex digits. */
export type Digest = `sha256:${string}`;

const PATTERN = /^sha256:[0-9a-f]{64}$/;

/** Tells a well-formed digest from every other value. */
export function isDigest(value: unknown): value is Digest {
  return typeof value === "string" && PATTERN.test(value);
}

/** The digest of exact bytes (a string stands for its UTF-8 bytes). */
export function digestBytes(bytes: Uint8Array | string): Digest {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** The digest of a value's canonical JSON bytes. */
export function digestJson(value: unknown): Digest {
  return digestBytes(canonicalBytes(value));
}

/** The digest of a file, read as a stream. */
export async function digestFile(path: string): Promise<Digest> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return `sha256:${hash.digest("hex")}`;
}
