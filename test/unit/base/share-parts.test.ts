import fc from "fast-check";
import { expect, test } from "vitest";
import { partSharer } from "../../../runner/base/share-parts.ts";

test("equal parts of different values become one object, and no value changes", () => {
  const share = partSharer();
  const [one, two] = [1, 2].map((number) => share({ number, faults: { a: 0, b: [0, null] }, tools: ["shell"] }));
  expect(one).toEqual({ number: 1, faults: { a: 0, b: [0, null] }, tools: ["shell"] });
  expect(two?.faults).toBe(one?.faults);
  expect(two?.tools).toBe(one?.tools);
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      expect(JSON.stringify(share(JSON.parse(text)))).toBe(text);
    }),
  );
});
