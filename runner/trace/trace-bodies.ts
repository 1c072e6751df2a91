import { digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { objectName, type TraceBody } from "../base/formats/trace-body.ts";
import type { ExactJson } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";

/** Gives the bytes of `objects/<name>`, or undefined when the evidence does not hold them. */
export type ReadObject = (name: string) => Uint8Array | undefined;

/** Bodies inside a trace that were held against their digest before; several readers ask for each. */
const checked = new WeakMap<TraceBody, Buffer>();
/** What bytes were read as before. */
const parsed = new WeakMap<Uint8Array, ExactJson>();

/**
 * The exact bytes of a body.
 * @throws RunnerError `TRACE_BODY` when bytes are there and are not those of the digest.
 */
export function bodyBytes(body: TraceBody, readObject: ReadObject): Known<Buffer> {
  const known = checked.get(body);
  if (known !== undefined) return known;
  const bytes =
    body.text !== undefined
      ? Buffer.from(body.text, "utf8")
      : body.base64 !== undefined
        ? Buffer.from(body.base64, "base64")
        : readObject(objectName(body));
  if (bytes === undefined) return unknown("missing", `the object ${objectName(body)} is not in the evidence`);
  if (bytes.byteLength !== body.bytes || digestBytes(bytes) !== body.digest) {
    throw new RunnerError("integrity", "TRACE_BODY", `the bytes of a body differ from its digest ${body.digest}`, {
      hint: "The evidence was changed after the gateway wrote it.",
    });
  }
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  // Another reader of objects may not have an object that this one has.
  if (body.object !== true) checked.set(body, buffer);
  return buffer;
}

/** Reads a body's bytes as JSON with every digit, once for the same bytes in memory. @throws RunnerError `JSON_INVALID`. */
export function bodyJson(bytes: Uint8Array, source: string): ExactJson {
  const known = parsed.get(bytes);
  if (known !== undefined) return known;
  const value = parseExactJson(bytes, { source, maxDepth: 256 });
  parsed.set(bytes, value);
  return value;
}

/** Applies `use` to bytes that are known. */
export function withBytes<T>(bytes: Known<Uint8Array>, use: (bytes: Uint8Array) => Known<T>): Known<T> {
  return isUnknown(bytes) ? bytes : use(bytes);
}
