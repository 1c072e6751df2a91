import fc from "fast-check";
import { stringify } from "smol-toml";
import { expect, test } from "vitest";
import { locateKeys } from "../../../runner/task/toml-places.ts";

test("every key has its place, past strings, comments, arrays and tables that look like keys", () => {
  const text = `a = "x = 1 # not a comment" # b = 2
"quoted.key" = '''
c = 3
'''
d = """
e = \\"""4"""
list = [
  1, # f = 5
  { g = 6 },
]
[t.u] # [v]
w.x = { y = "}" }
[[arr]]
k = 1
[[arr]]
k = 2
[arr.sub]
z = 0
`;
  expect([...locateKeys(text)].map(([path, { line, column }]) => `${path} ${line}:${column}`)).toEqual([
    '["a"] 1:1',
    '["quoted.key"] 2:1',
    '["d"] 5:1',
    '["list"] 7:1',
    '["t"] 11:1',
    '["t","u"] 11:1',
    '["t","u","w"] 12:1',
    '["t","u","w","x"] 12:1',
    '["arr"] 13:1',
    '["arr",0] 13:1',
    '["arr",0,"k"] 14:1',
    '["arr",1] 15:1',
    '["arr",1,"k"] 16:1',
    '["arr",1,"sub"] 17:1',
    '["arr",1,"sub","z"] 18:1',
  ]);
});

/** The paths of all keys that stand outside inline tables, as `stringify` writes documents. */
function paths(value: unknown, path: (string | number)[]): string[] {
  if (Array.isArray(value)) {
    const tables =
      value.length > 0 && value.every((item) => typeof item === "object" && item !== null && !Array.isArray(item));
    return tables
      ? value.flatMap((item, index) => [JSON.stringify([...path, index]), ...paths(item, [...path, index])])
      : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => [
    JSON.stringify([...path, key]),
    ...paths(member, [...path, key]),
  ]);
}

test("every key of a generated document has a place on a line that names it", () => {
  const key = fc.string({
    unit: fc.constantFrom("a", "b", "-", "_", "1", ".", " ", '"', "#", "]", "=", "é"),
    minLength: 1,
    maxLength: 6,
  });
  const text = fc.string({
    unit: fc.constantFrom("x", "=", "[", "]", "#", '"', "'", "\\", "\n", "{", "}"),
    maxLength: 12,
  });
  const document = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      text,
      fc.integer(),
      fc.boolean(),
      fc.array(text, { maxLength: 3 }),
      tie("table"),
      fc.array(tie("table"), { minLength: 1, maxLength: 2 }),
    ),
    table: fc.dictionary(key, tie("value"), { maxKeys: 3 }),
  })).table;
  fc.assert(
    fc.property(document, (value) => {
      const written = stringify(value);
      const places = locateKeys(written);
      const lines = written.split("\n");
      for (const path of paths(value, [])) {
        const place = places.get(path);
        expect(place, `${path} in\n${written}`).toBeDefined();
        expect(lines[(place?.line ?? 0) - 1]?.trim()).not.toBe("");
      }
    }),
    { numRuns: 300, seed: 20261130 },
  );
});
