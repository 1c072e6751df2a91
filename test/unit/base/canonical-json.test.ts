import canonicalize from "canonicalize";
import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalText } from "../../../runner/base/canonical-json.ts";
import { digestJson } from "../../../runner/base/digest.ts";

test("keys are ordered by UTF-16 code units whatever the locale (H8)", () => {
  expect(canonicalText({ "\ue000": 1, "😀": 2, checksDigest: 3, changedFiles: 4, "a\u200db": 5, ab: 6 })).toBe(
    '{"ab":6,"a\u200db":5,"changedFiles":4,"checksDigest":3,"😀":2,"\ue000":1}',
  );
});

test("gives the text that another RFC 8785 writer gives, for any JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
      const text = JSON.stringify(value);
      fc.pre(text.isWellFormed() && !/\\ud[89a-f]/i.test(text) && safeIntegers(value));
      expect(canonicalText(value)).toBe(canonicalize(value));
    }),
    { numRuns: 2000 },
  );
  for (const number of [-0, 1e-7, 0.1, 5e-324, 2.5e-300, 123456789.125, 2 ** 53 - 1])
    expect(canonicalText([number])).toBe(canonicalize([number]));
});

function safeIntegers(value: unknown): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Number.isSafeInteger(value);
  return typeof value !== "object" || value === null || Object.values(value).every(safeIntegers);
}

test("the digest of a value does not depend on the order of its keys", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.integer()), (value) => {
      const reversed = Object.fromEntries(Object.entries(value).reverse());
      expect(digestJson(reversed)).toBe(digestJson(value));
    }),
  );
});

test.each([
  ["undefined", { a: undefined }, "at /a: undefined has no canonical JSON form"],
  ["a date", { d: new Date(0) }, "at /d: a Date has no canonical JSON form"],
  ["a map", [new Map()], "at /0: a Map has no canonical JSON form"],
  ["NaN", { "a/b": Number.NaN }, "at /a~1b: NaN has no canonical JSON form"],
  ["a bigint", 1n, "at the root: bigint has no canonical JSON form"],
  ["a lone surrogate", ["\ud835"], "at /0: a string with a lone surrogate has no canonical JSON form"],
  ["an unsafe integer", [2 ** 53], "at /0: the unsafe integer 9007199254740992 has no canonical JSON form"],
  ["a hole", new Array(2), "at /0: undefined has no canonical JSON form"],
])("%s is refused (H9)", (_name, value, message) => {
  expect(() => canonicalText(value)).toThrow(message);
});
