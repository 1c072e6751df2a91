import type { TomlNode } from "../toml.ts";

const FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?(?:\d+(?:_\d+)*)?|\.\d+(?:_\d+)*)(?:[eE][+-]?\d+)?$/;
const INTEGER = /^[+-]?\d+(?:_\d+)*(?:\.0*)?$/;
const TRUE_WORDS = ["true", "t", "yes", "y", "on", "1"];
const FALSE_WORDS = ["false", "f", "no", "n", "off", "0"];

/** A float as Pydantic's lax mode takes it: numbers, booleans and numeric strings, `inf` and `nan` included. */
export function toFloat(value: TomlNode): number | null {
  if (typeof value === "number") return value;
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "string") return null;
  const text = value.trim();
  const special = /^([+-]?)(inf|infinity|nan)$/i.exec(text);
  if (special !== null) {
    if (special[2]?.toLowerCase() === "nan") return Number.NaN;
    return special[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  }
  return FLOAT.test(text) ? Number(text.replaceAll("_", "")) : null;
}

/** A safe integer as Pydantic's lax mode takes it: integers, floats without a fraction, booleans and strings of those. */
export function toInteger(value: TomlNode): number | null {
  let result: number | null = null;
  if (typeof value === "boolean") result = value ? 1 : 0;
  else if (typeof value === "bigint" || typeof value === "number") result = Number(value);
  else if (typeof value === "string" && INTEGER.test(value.trim())) result = Number(value.trim().replaceAll("_", ""));
  return result !== null && Number.isSafeInteger(result) ? result : null;
}

/** A boolean as Pydantic's lax mode takes it: true and false, 0 and 1, and the usual words in any case. */
export function toBoolean(value: TomlNode): boolean | null {
  if (typeof value === "boolean") return value;
  if (typeof value === "bigint" || typeof value === "number") {
    return Number(value) === 1 ? true : Number(value) === 0 ? false : null;
  }
  if (typeof value !== "string") return null;
  const word = value.toLowerCase();
  return TRUE_WORDS.includes(word) ? true : FALSE_WORDS.includes(word) ? false : null;
}

/** The value as a message quotes it. */
export function describeValue(value: TomlNode): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 57)}...` : value);
  if (typeof value !== "object") return String(value);
  return Array.isArray(value) ? "a list" : "a table";
}
