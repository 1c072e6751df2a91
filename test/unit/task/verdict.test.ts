import { expect, test } from "vitest";
import { readVerdict } from "../../../runner/task/verdict.ts";

const read = (value: unknown) => readVerdict(Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
const passed = { id: "shape", passed: true };
const failed = { id: "answer", passed: false, detail: "got 3, expected 4" };

test("a verdict names every check and the first that failed", () => {
  const verdict = { schemaVersion: "1", checks: [passed, failed], failed: "answer" };
  expect(read(verdict)).toEqual({ state: "valid", verdict });
  expect(read({ schemaVersion: "1", checks: [passed], failed: null }).state).toBe("valid");
});

test("no file is no verdict", () => {
  expect(readVerdict(null)).toEqual({ state: "absent" });
});

test("failed checks that only inform leave failed null", () => {
  expect(read({ schemaVersion: "1", checks: [failed, passed], failed: null }).state).toBe("valid");
});

test.each([
  [
    { schemaVersion: "1", checks: [passed, failed], failed: "shape" },
    'verdict.json: failed names the check "shape", which passed',
  ],
  [{ schemaVersion: "1", checks: [passed, passed], failed: null }, 'verdict.json: the check "shape" is there twice'],
  [
    { schemaVersion: "1", checks: [], failed: "x" },
    'verdict.json: failed names the check "x", which is not among the checks',
  ],
  [
    { schemaVersion: "2", checks: [], failed: null },
    'verdict.json: schemaVersion: Invalid input: expected "1", got "2"',
  ],
  ['{"failed":null,"failed":null}', 'verdict.json: line 1, column 16: duplicate key "failed"'],
])("the verdict %j is invalid", (value, detail) => {
  expect(read(value)).toEqual({ state: "invalid", detail });
});
