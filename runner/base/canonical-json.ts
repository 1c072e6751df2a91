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
  const place: (string | number)[] = [];
  try {
    return write(value, place);
  } catch (thrown) {
    if (!(thrown instanceof Refused)) throw thrown;
    throw new RunnerError(
      "integrity",
      "NOT_CANONICAL",
      `at ${pointer(place) || "the root"}: ${thrown.message} has no canonical JSON form`,
    );
  }
}

/** Says what was seen; the place is known to whoever walks. */
class Refused extends Error {}

function write(value: unknown, place: (string | number)[]): string {
  switch (typeof value) {
    case "string":
      return writeString(value, "a string");
    case "number":
      if (!Number.isFinite(value)) throw new Refused(String(value));
      if (Number.isInteger(value) && !Number.isSafeInteger(value)) throw new Refused(`the unsafe integer ${value}`);
      // The shortest form that ECMAScript prints is the one that RFC 8785 asks for, and -0 is 0.
      return String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? writeList(value, place) : writeMembers(value, place);
    default:
      throw new Refused(typeof value);
  }
}

function writeString(text: string, what: string): string {
  if (!text.isWellFormed()) throw new Refused(`${what} with a lone surrogate`);
  return JSON.stringify(text);
}

function writeList(list: readonly unknown[], place: (string | number)[]): string {
  let text = "[";
  for (let index = 0; index < list.length; index += 1) {
    place.push(index);
    if (index > 0) text += ",";
    text += write(list[index], place);
    place.pop();
  }
  return `${text}]`;
}

function writeMembers(value: object, place: (string | number)[]): string {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new Refused(`a ${value.constructor.name}`);
  let text = "{";
  // The default order of sort is by UTF-16 code units, whatever the locale.
  for (const key of Object.keys(value).sort()) {
    if (text.length > 1) text += ",";
    text += `${writeString(key, "a key")}:`;
    place.push(key);
    text += write((value as Readonly<Record<string, unknown>>)[key], place);
    place.pop();
  }
  return `${text}}`;
}

function pointer(place: readonly (string | number)[]): string {
  return place.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
