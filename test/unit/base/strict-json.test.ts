import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { parseExactJson, parseStrictJson } from "../../../runner/base/strict-json.ts";

const read = (text: string): unknown => parseStrictJson(text, { source: "x.json" });
const refusal = (text: string | Uint8Array, options = {}): string => {
  try {
    parseStrictJson(text, { source: "x.json", ...options });
  } catch (thrown) {
    if (thrown instanceof RunnerError) return thrown.message;
    throw thrown;
  }
  return "accepted";
};

describe("the strict reader", () => {
  test("agrees with JSON.parse on every value that JSON.stringify writes", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const doubles = JSON.stringify(value).match(/(?<![\w."])-?\d{16,}(?![\w."])/);
        fc.pre(doubles === null);
        expect(read(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("refuses what JSON.parse refuses, on texts with one byte changed", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 3 }), fc.nat(), fc.string({ maxLength: 1 }), (value, at, insert) => {
        const text = JSON.stringify(value);
        const changed = text.slice(0, at % (text.length + 1)) + insert + text.slice((at % (text.length + 1)) + 1);
        let lenient: unknown;
        try {
          lenient = JSON.parse(changed);
        } catch {
          expect(refusal(changed)).toMatch(/^x\.json: /);
          return;
        }
        // The strict reader may refuse more (duplicates, unsafe integers), and never reads anything else.
        try {
          expect(read(changed)).toEqual(lenient);
        } catch (thrown) {
          expect(thrown).toBeInstanceOf(RunnerError);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("names the place and the problem", () => {
    expect({
      duplicate: refusal('{"task_id":"wrong",\n "task_id":"right"}'),
      nested: refusal("[".repeat(70)),
      trailing: refusal("{} x"),
      comma: refusal("[1,]"),
      control: refusal('"a\u0001"'),
      escape: refusal('"\\x"'),
      infinite: refusal("1e999"),
      nan: refusal("NaN"),
      unsafe: refusal("9007199254740993"),
      empty: refusal(""),
      bytes: refusal(new Uint8Array([0x22, 0xff, 0x22])),
      large: refusal(`"${"a".repeat(100)}"`, { maxBytes: 50 }),
      mark: refusal("\ufeff{}"),
    }).toEqual({
      duplicate: 'x.json: line 2, column 2: duplicate key "task_id"',
      nested: "x.json: line 1, column 65: nested deeper than 64 levels",
      trailing: 'x.json: line 1, column 4: unexpected "x" after the value',
      comma: 'x.json: line 1, column 4: expected a value, got "]"',
      control: 'x.json: line 1, column 3: unexpected "\\u0001" in a string',
      escape: "x.json: line 1, column 2: unknown escape \\x",
      infinite: "x.json: line 1, column 1: the number 1e999 is not finite",
      nan: 'x.json: line 1, column 1: expected a value, got "N"',
      unsafe: "x.json: line 1, column 1: the integer 9007199254740993 is beyond 2^53 - 1 and would be rounded",
      empty: "x.json: line 1, column 1: expected a value, got the end",
      bytes: "x.json: the bytes are not UTF-8",
      large: "x.json: 102 bytes are more than the 50 allowed",
      mark: 'x.json: line 1, column 1: expected a value, got "\ufeff"',
    });
  });

  test("keeps every digit of a large integer when asked to", () => {
    expect(parseExactJson('{"id":1915883588174806058,"n":9007199254740993,"small":-3}', { source: "x" })).toEqual({
      id: 1915883588174806058n,
      n: 9007199254740993n,
      small: -3,
    });
  });

  test("reads a key named __proto__ as a key", () => {
    const value = read('{"__proto__":{"polluted":true}}') as object;
    expect(Object.keys(value)).toEqual(["__proto__"]);
    expect("polluted" in value).toBe(false);
  });
});
