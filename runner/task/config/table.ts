import type { TaskWarning } from "../model.ts";
import { isTable, type Problem, type TomlDocument, type TomlNode, type TomlRecord } from "../toml.ts";
import { describeValue, toBoolean, toFloat, toInteger } from "./lax.ts";

type Path = readonly (string | number)[];

/** What reading one task.toml gathers: nothing is thrown until every problem is known. */
export interface ConfigContext {
  readonly file: string;
  readonly document: TomlDocument;
  readonly problems: Problem[];
  readonly warnings: TaskWarning[];
}

/** Reads the keys of one TOML table with Pydantic's lax coercions, and remembers which keys were asked for. */
export interface TableReader {
  readonly path: Path;
  readonly has: (key: string) => boolean;
  readonly raw: (key: string) => TomlNode | undefined;
  readonly string: (key: string) => string | null;
  readonly number: (key: string) => number | null;
  readonly integer: (key: string) => number | null;
  readonly boolean: (key: string) => boolean | null;
  readonly strings: (key: string) => readonly string[] | null;
  readonly stringMap: (key: string) => Readonly<Record<string, string>>;
  readonly oneOf: <const T extends string>(key: string, allowed: readonly T[]) => T | null;
  /** A sub-table, or null when the key is absent or not a table (which is a problem). */
  readonly table: (key: string) => TableReader | null;
  /** A list of tables; a member that is a string comes back as the string. */
  readonly tables: (key: string) => readonly (TableReader | string)[];
  readonly fail: (key: string | null, message: string) => void;
  readonly warn: (code: TaskWarning["code"], key: string, message: string) => void;
  /** Reports the keys that nobody asked for. */
  readonly finish: () => void;
}

/** Opens a table at a path; an absent table reads as empty. */
export function openTable(context: ConfigContext, path: Path, record: TomlRecord): TableReader {
  const asked = new Set<string>();
  const at = (key: string | null): Path => (key === null ? path : [...path, key]);

  const fail = (key: string | null, message: string): void => {
    const where = at(key);
    const label = where.length === 0 ? "" : `${where.join(".")}: `;
    context.problems.push({
      file: context.file,
      place: context.document.place(where),
      message: `${label}${message}`,
    });
  };
  const raw = (key: string): TomlNode | undefined => {
    asked.add(key);
    return Object.hasOwn(record, key) ? record[key] : undefined;
  };
  const read = <T>(key: string, convert: (value: TomlNode) => T | null, expected: string): T | null => {
    const value = raw(key);
    if (value === undefined) return null;
    const converted = convert(value);
    if (converted === null) fail(key, `expected ${expected}, got ${describeValue(value)}`);
    return converted;
  };
  const list = (key: string): readonly TomlNode[] => {
    const value = raw(key);
    if (value === undefined) return [];
    if (Array.isArray(value)) return value;
    fail(key, `expected a list, got ${describeValue(value)}`);
    return [];
  };

  return {
    path,
    has: (key) => Object.hasOwn(record, key),
    raw,
    fail,
    string: (key) => read(key, (value) => (typeof value === "string" ? value : null), "a string"),
    number: (key) => read(key, toFloat, "a number"),
    integer: (key) => read(key, toInteger, "an integer"),
    boolean: (key) => read(key, toBoolean, "true or false"),
    strings: (key) =>
      read(
        key,
        (value) =>
          Array.isArray(value) && value.every((item): item is string => typeof item === "string") ? value : null,
        "a list of strings",
      ),
    stringMap: (key) => {
      const value = raw(key);
      if (value === undefined) return {};
      if (!isTable(value)) {
        fail(key, `expected a table of strings, got ${describeValue(value)}`);
        return {};
      }
      return Object.fromEntries(
        Object.entries(value).flatMap(([name, member]): [string, string][] => {
          if (typeof member === "string") return [[name, member]];
          fail(key, `${name}: expected a string, got ${describeValue(member)}; put it in quotes`);
          return [];
        }),
      );
    },
    oneOf: <const T extends string>(key: string, allowed: readonly T[]) =>
      read(
        key,
        (value) => allowed.find((candidate) => candidate === value) ?? null,
        `one of ${allowed.map((value) => JSON.stringify(value)).join(", ")}`,
      ),
    table: (key) => {
      const value = raw(key);
      if (value === undefined) return null;
      if (isTable(value)) return openTable(context, [...path, key], value);
      fail(key, `expected a table, got ${describeValue(value)}`);
      return null;
    },
    tables: (key) =>
      list(key).flatMap((value, index): (TableReader | string)[] => {
        if (typeof value === "string") return [value];
        if (isTable(value)) return [openTable(context, [...path, key, index], value)];
        fail(key, `entry ${index + 1}: expected a table, got ${describeValue(value)}`);
        return [];
      }),
    warn: (code, key, message) => {
      const place = context.document.place(at(key));
      context.warnings.push({
        code,
        file: context.file,
        line: place?.line ?? null,
        subject: at(key).join("."),
        message,
      });
    },
    finish: () => {
      for (const key of Object.keys(record)) {
        if (asked.has(key)) continue;
        const place = context.document.place(at(key));
        context.warnings.push({
          code: "UNKNOWN_KEY",
          file: context.file,
          line: place?.line ?? null,
          subject: at(key).join("."),
          message: `the key ${at(key).join(".")} means nothing here; it only counts in the task's digest`,
        });
      }
    },
  };
}
