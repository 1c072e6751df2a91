import { digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { objectName, type TraceBody } from "../base/formats/trace-body.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";

/** Gives the bytes of `objects/<name>`, or undefined when the evidence does not hold them. */
export type ReadObject = (name: string) => Uint8Array | undefined;

/**
 * The exact bytes of a body.
 * @throws RunnerError `TRACE_BODY` when bytes are there and are not those of the digest.
 */
export function bodyBytes(body: TraceBody, readObject: ReadObject): Known<Uint8Array> {
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
  return bytes;
}

/** Applies `use` to bytes that are known. */
export function withBytes<T>(bytes: Known<Uint8Array>, use: (bytes: Uint8Array) => Known<T>): Known<T> {
  return isUnknown(bytes) ? bytes : use(bytes);
}
