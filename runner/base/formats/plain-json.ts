import type { ExactJson, Json } from "../json.ts";

/**
 * A JSON value that canonical JSON can carry, without two different values becoming one: an integer beyond 2^53 - 1 becomes
 * `{"$integer": "digits"}` and a string with a lone surrogate becomes `{"$escaped": "its JSON escape"}`.
 */
export function plainJson(value: ExactJson): Json {
  switch (typeof value) {
    case "bigint":
      return { $integer: value.toString() };
    case "string":
      return value.isWellFormed() ? value : { $escaped: JSON.stringify(value) };
    case "object":
      return plainComposite(value);
    default:
      return value;
  }
}

function plainComposite(value: ExactJson & (object | null)): Json {
  if (value === null) return null;
  if (isList(value)) return value.map(plainJson);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key.isWellFormed() ? key : JSON.stringify(key), plainJson(member)]),
  );
}

function isList(value: object): value is readonly ExactJson[] {
  return Array.isArray(value);
}

/** Prints a value as compact JSON with every digit of its integers. Lone surrogates are escaped. */
export function printExact(value: ExactJson): string {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (isList(value)) return `[${value.map(printExact).join(",")}]`;
  return `{${Object.entries(value)
    .map(([key, member]) => `${JSON.stringify(key)}:${printExact(member)}`)
    .join(",")}}`;
}
