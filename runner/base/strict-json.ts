import { RunnerError } from "./errors.ts";
import type { ExactJson, Json } from "./json.ts";

export interface StrictJsonOptions {
  /** What is being read, for messages: a path or a description. */
  readonly source: string;
  /** Largest input in bytes. Default 64 MiB. */
  readonly maxBytes?: number;
  /** Deepest nesting of arrays and objects. Default 64. */
  readonly maxDepth?: number;
}

const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN_STRING = /[^"\\\u0000-\u001f]*/y;
const SPACE = /[ \t\n\r]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

/**
 * Reads JSON from a party that is not trusted: strict UTF-8, RFC 8259 grammar, no duplicate keys, bounded size and depth, finite
 * numbers. Integers beyond 2^53 - 1 are refused rather than rounded; see {@link parseExactJson} for those.
 * @throws RunnerError `JSON_INVALID` with line, column and what was seen.
 */
export function parseStrictJson(input: string | Uint8Array, options: StrictJsonOptions): Json {
  return new Reader(decode(input, options), options, false).document() as Json;
}

/** Like {@link parseStrictJson}, but integers beyond 2^53 - 1 come back as bigint with every digit. */
export function parseExactJson(input: string | Uint8Array, options: StrictJsonOptions): ExactJson {
  return new Reader(decode(input, options), options, true).document();
}

function decode(input: string | Uint8Array, options: StrictJsonOptions): string {
  const limit = options.maxBytes ?? 64 * 1024 * 1024;
  const bytes = typeof input === "string" ? Buffer.byteLength(input) : input.byteLength;
  if (bytes > limit) throw invalid(options.source, `${bytes} bytes are more than the ${limit} allowed`);
  if (typeof input === "string") return input;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(input);
  } catch (cause) {
    throw invalid(options.source, "the bytes are not UTF-8", cause);
  }
}

function invalid(source: string, problem: string, cause?: unknown): RunnerError {
  return new RunnerError("input", "JSON_INVALID", `${source}: ${problem}`, {
    hint: "Write strict JSON: UTF-8, no duplicate keys, no comments, finite numbers.",
    cause,
  });
}

/** A recursive-descent reader over one text; lives for one call. */
class Reader {
  readonly #text: string;
  readonly #source: string;
  readonly #maxDepth: number;
  readonly #exact: boolean;
  #at = 0;

  constructor(text: string, options: StrictJsonOptions, exact: boolean) {
    this.#text = text;
    this.#source = options.source;
    this.#maxDepth = options.maxDepth ?? 64;
    this.#exact = exact;
  }

  document(): ExactJson {
    this.#space();
    const value = this.#value(0);
    this.#space();
    if (this.#at < this.#text.length) throw this.#fail(`unexpected ${this.#seen()} after the value`);
    return value;
  }

  #value(depth: number): ExactJson {
    const char = this.#text[this.#at];
    if (char === "{" || char === "[") {
      if (depth >= this.#maxDepth) throw this.#fail(`nested deeper than ${this.#maxDepth} levels`);
      return char === "{" ? this.#object(depth + 1) : this.#array(depth + 1);
    }
    if (char === '"') return this.#string();
    if (this.#literal("true")) return true;
    if (this.#literal("false")) return false;
    if (this.#literal("null")) return null;
    return this.#number();
  }

  #object(depth: number): ExactJson {
    const result: Record<string, ExactJson> = {};
    this.#at += 1;
    this.#space();
    if (this.#take("}")) return result;
    for (;;) {
      if (this.#text[this.#at] !== '"') throw this.#fail(`expected a key in double quotes, got ${this.#seen()}`);
      const start = this.#at;
      const key = this.#string();
      if (Object.hasOwn(result, key)) {
        this.#at = start;
        throw this.#fail(`duplicate key ${JSON.stringify(key)}`);
      }
      this.#space();
      if (!this.#take(":")) throw this.#fail(`expected ":", got ${this.#seen()}`);
      this.#space();
      const value = this.#value(depth);
      // A plain assignment to "__proto__" would set the prototype instead of a key.
      if (key === "__proto__")
        Object.defineProperty(result, key, { value, enumerable: true, configurable: true, writable: true });
      else result[key] = value;
      this.#space();
      if (this.#take("}")) return result;
      if (!this.#take(",")) throw this.#fail(`expected "," or "}", got ${this.#seen()}`);
      this.#space();
    }
  }

  #array(depth: number): ExactJson {
    const result: ExactJson[] = [];
    this.#at += 1;
    this.#space();
    if (this.#take("]")) return result;
    for (;;) {
      result.push(this.#value(depth));
      this.#space();
      if (this.#take("]")) return result;
      if (!this.#take(",")) throw this.#fail(`expected "," or "]", got ${this.#seen()}`);
      this.#space();
    }
  }

  #string(): string {
    this.#at += 1;
    let result = "";
    for (;;) {
      PLAIN_STRING.lastIndex = this.#at;
      PLAIN_STRING.test(this.#text);
      result += this.#text.slice(this.#at, PLAIN_STRING.lastIndex);
      this.#at = PLAIN_STRING.lastIndex;
      const char = this.#text[this.#at];
      if (char === '"') {
        this.#at += 1;
        return result;
      }
      if (char !== "\\") throw this.#fail(`unexpected ${this.#seen()} in a string`);
      result += this.#escape();
    }
  }

  #escape(): string {
    const kind = this.#text[this.#at + 1] ?? "";
    if (kind === "u") {
      const hex = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(hex)) throw this.#fail("expected four hex digits after \\u");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(hex, 16));
    }
    const plain = ESCAPES[kind];
    if (plain === undefined) throw this.#fail(`unknown escape \\${kind}`);
    this.#at += 2;
    return plain;
  }

  #number(): ExactJson {
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#fail(`expected a value, got ${this.#seen()}`);
    const token = match[0];
    const integer = match[1] === undefined && match[2] === undefined;
    const value = Number(token);
    if (!Number.isFinite(value)) throw this.#fail(`the number ${token.slice(0, 40)} is not finite`);
    if (integer && !Number.isSafeInteger(value)) {
      if (!this.#exact) throw this.#fail(`the integer ${token.slice(0, 40)} is beyond 2^53 - 1 and would be rounded`);
      this.#at += token.length;
      return BigInt(token);
    }
    this.#at += token.length;
    return value;
  }

  #literal(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #take(char: string): boolean {
    if (this.#text[this.#at] !== char) return false;
    this.#at += 1;
    return true;
  }

  #space(): void {
    // Canonical and compact JSON has none.
    if (this.#text.charCodeAt(this.#at) > 32) return;
    SPACE.lastIndex = this.#at;
    SPACE.test(this.#text);
    this.#at = SPACE.lastIndex;
  }

  #seen(): string {
    const char = this.#text.codePointAt(this.#at);
    return char === undefined ? "the end" : JSON.stringify(String.fromCodePoint(char));
  }

  #fail(problem: string): RunnerError {
    const before = this.#text.slice(0, this.#at);
    const line = before.split("\n").length;
    const column = this.#at - before.lastIndexOf("\n");
    return invalid(this.#source, `line ${line}, column ${column}: ${problem}`);
  }
}
