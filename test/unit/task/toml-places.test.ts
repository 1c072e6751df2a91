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
