import { parse, TomlDate, TomlError } from "smol-toml";
import type { ExactJson } from "../base/json.ts";
import { locateKeys } from "./toml-places.ts";

/** Where a key stands, 1-based. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** One thing wrong with a file of a task. */
export interface Problem {
  readonly file: string;
  readonly place: Place | null;
  readonly message: string;
}

/** A TOML value: integers are bigint, so that `1` and `1.0` differ; floats are number; dates are ISO strings. */
export type TomlScalar = string | bigint | number | boolean;
export type TomlNode = TomlScalar | readonly TomlNode[] | TomlRecord;
export interface TomlRecord {
  readonly [key: string]: TomlNode;
}

export interface TomlDocument {
  readonly root: TomlRecord;
  /** The place of a dotted path (array indices included), or of its nearest located ancestor. */
  readonly place: (path: readonly (string | number)[]) => Place | null;
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Reads TOML 1.0. Integers keep every digit; one that TOML's 64 bits cannot hold is a problem that names its key. */
export function readToml(
  text: string,
  file: string,
): { readonly document: TomlDocument } | { readonly problems: readonly Problem[] } {
  let root: TomlRecord;
  try {
    root = parse(text, { integersAsBigInt: true }) as unknown as TomlRecord;
  } catch (thrown) {
    if (!(thrown instanceof TomlError)) throw thrown;
    const [summary = thrown.message] = thrown.message.split("\n");
    return {
      problems: [
        {
          file,
          place: { line: thrown.line, column: thrown.column },
          message: summary.replace(/^Invalid TOML document: /, "TOML: "),
        },
      ],
    };
  }
  const places = locateKeys(text);
  const place: TomlDocument["place"] = (path) => {
    for (let length = path.length; length > 0; length -= 1) {
      const found = places.get(JSON.stringify(path.slice(0, length)));
      if (found !== undefined) return found;
    }
    return null;
  };
  const problems: Problem[] = [];
  root = normalise(root, [], (path, value) => {
    problems.push({
      file,
      place: place(path),
      message: `${path.join(".")}: the integer ${value} does not fit in the 64 bits of a TOML integer`,
    });
  }) as TomlRecord;
  return problems.length > 0 ? { problems } : { document: { root, place } };
}

function normalise(
  value: unknown,
  path: (string | number)[],
  tooLarge: (path: (string | number)[], value: bigint) => void,
): TomlNode {
  if (typeof value === "bigint" && (value > INT64_MAX || value < INT64_MIN)) tooLarge(path, value);
  if (value instanceof TomlDate) return value.toISOString();
  if (Array.isArray(value)) return value.map((item, index) => normalise(item, [...path, index], tooLarge));
  if (typeof value === "object" && value !== null) {
    const result: Record<string, TomlNode> = Object.create(null);
    for (const [key, member] of Object.entries(value)) result[key] = normalise(member, [...path, key], tooLarge);
    return result;
  }
  return value as TomlScalar;
}

/** Tells a table from every other value. */
export function isTable(value: unknown): value is TomlRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A TOML value as exact JSON; `inf` and `nan`, which JSON lacks, become the strings of their TOML spelling and are reported. */
export function toExactJson(
  value: TomlNode,
  path: readonly (string | number)[],
  onNonFinite: (path: readonly (string | number)[], spelling: string) => void,
): ExactJson {
  if (typeof value === "bigint") {
    const small = Number(value);
    return Number.isSafeInteger(small) ? small : value;
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    const spelling = Number.isNaN(value) ? "nan" : value > 0 ? "inf" : "-inf";
    onNonFinite(path, spelling);
    return spelling;
  }
  if (Array.isArray(value)) {
    return value.map((item: TomlNode, index) => toExactJson(item, [...path, index], onNonFinite));
  }
  if (isTable(value)) {
    const result: Record<string, ExactJson> = {};
    for (const [key, member] of Object.entries(value)) {
      Object.defineProperty(result, key, {
        value: toExactJson(member, [...path, key], onNonFinite),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    }
    return result;
  }
  return value as string | number | boolean;
}
