import { expect, test } from "vitest";
import { matchesExclude } from "../../../runner/trial/exclude.ts";

test.each([
  ["*.log", "a/b/c.log", true],
  ["*.log", "a/b/c.logs", false],
  ["cache", "x/cache/y/z", true],
  ["cache", "x/cached", false],
  ["a/*/c", "a/b/d/c", true],
  ["a?c", "abc", true],
  ["[ab]x", "q/bx", true],
  ["[!ab]x", "bx", false],
  ["dir/", "dir/file", true],
  ["a.b", "aXb", false],
  ["[open", "[open", true],
])("tar --exclude %s on %s: %s", (pattern, path, expected) => {
  expect(matchesExclude(pattern, path)).toBe(expected);
});
