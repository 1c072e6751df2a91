import canonicalize from "canonicalize";
import { RunnerError } from "./errors.ts";

/**
 * RFC 8785 bytes of a JSON value. Values that JSON cannot carry without loss (undefined, NaN, bigint, Date, Map, class instances, lone
 * surrogates, sparse arrays, integers beyond 2^53 - 1) are refused, so that two different values never share bytes.
 * @throws RunnerError `NOT_CANONICAL` with the JSON pointer of the value.
 */
export function canonicalBytes(value: unknown): Buffer {
  return Buffer.from(canonicalText(value), "utf8");
}

/** The text form of {@link canonicalBytes}. */
export function canonicalText(value: unknown): string {
  assertJson(value, "");
  const text = canonicalize(value);
  if (text === undefined) throw refuse("", "nothing");
  return text;
}

function assertJson(value: unknown, pointer: string): void {
  switch (typeof value) {
    case "boolean":
      return;
    case "string":
      if (!value.isWellFormed()) throw refuse(pointer, "a string with a lone surrogate");
      return;
    case "number":
      if (!Number.isFinite(value)) throw refuse(pointer, String(value));
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw refuse(pointer, `the unsafe integer ${value}`);
      return;
    case "object":
      assertComposite(value, pointer);
      return;
    default:
      throw refuse(pointer, typeof value);
  }
}

function assertComposite(value: object | null, pointer: string): void {
  if (value === null) return;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) assertJson(value[index], `${pointer}/${index}`);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refuse(pointer, `a ${value.constructor.name}`);
  for (const [key, member] of Object.entries(value)) {
    if (!key.isWellFormed()) throw refuse(pointer, "a key with a lone surrogate");
    assertJson(member, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`);
  }
}

function refuse(pointer: string, seen: string): RunnerError {
  return new RunnerError(
    "integrity",
    "NOT_CANONICAL",
    `at ${pointer || "the root"}: ${seen} has no canonical JSON form`,
  );
}
