import { expect, test } from "vitest";
import { RunnerError } from "../../../runner/base/errors.ts";
import { compileSubmissionCheck, loadSubmissionCheck } from "../../../runner/task/submission.ts";
import { makeFolder, rejection } from "./support.ts";

const check = compileSubmissionCheck(
  {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    additionalProperties: false,
    required: ["n", "list"],
    properties: {
      n: { type: "integer", minimum: 0 },
      list: { type: "array", prefixItems: [{ type: "string" }], items: { type: "boolean" } },
      id: { type: "integer" },
    },
  },
  "schema",
);
const submit = (text: string) => check(Buffer.from(text));

test("a submission that meets the schema is valid", () => {
  expect(submit('{"n": 3, "list": ["a", true]}')).toEqual({ state: "valid" });
});

test("no submission is absent, not invalid", () => {
  expect(check(null)).toEqual({ state: "absent" });
});

test("every place that breaks the schema is named", () => {
  expect(submit('{"n": -1, "list": [1, 2], "extra": 0}')).toEqual({
    state: "invalid",
    places: [
      { pointer: "", message: 'must NOT have additional properties (additionalProperty "extra")' },
      { pointer: "/n", message: "must be >= 0" },
      { pointer: "/list/0", message: "must be string" },
      { pointer: "/list/1", message: "must be boolean" },
    ],
    truncated: false,
  });
});

test.each([
  ['{"n":1,"n":2,"list":[]}', 'the submission: line 1, column 8: duplicate key "n"'],
  ["", "the submission: line 1, column 1: expected a value, got the end"],
  ['{"n": NaN}', 'the submission: line 1, column 7: expected a value, got "N"'],
  ['\ufeff{"n":1}', 'the submission: line 1, column 1: expected a value, got "\ufeff"'],
])("the text %j is no strict JSON and so invalid", (text, message) => {
  expect(submit(text)).toEqual({ state: "invalid", places: [{ pointer: "", message }], truncated: false });
});

test("a boolean is not an integer, and a number with a zero fraction is one", () => {
  expect(submit('{"n": true, "list": []}')).toEqual({
    state: "invalid",
    places: [{ pointer: "/n", message: "must be integer" }],
    truncated: false,
  });
  expect(submit('{"n": 2.0, "list": []}')).toEqual({ state: "valid" });
});

test("at most fifty places are listed, and the rest is said to be there", () => {
  const reading = submit(JSON.stringify({ n: 1, list: ["a", ...new Array<number>(60).fill(1)] }));
  expect(reading.state === "invalid" && [reading.places.length, reading.truncated]).toEqual([50, true]);
});

test("an integer beyond 2^53 - 1 is an integer; where the schema compares numbers its outcome is unknown", () => {
  const plain = compileSubmissionCheck({ type: "object", properties: { id: { type: "integer" } } }, "schema");
  expect(plain(Buffer.from('{"id": 9007199254740993}'))).toEqual({ state: "valid" });
  expect(submit('{"n": 1, "list": [], "id": 9007199254740993}')).toEqual({
    state: "unknown",
    unknown: "unavailable",
    detail: "an integer beyond 2^53 - 1 stands where the schema compares numbers, and its validator would round it",
  });
});

test("a file that is no schema is an error that names it", async () => {
  const dir = await makeFolder({ "bad.json": '{"type": "text"}', "list.json": "[]" });
  for (const name of ["bad.json", "list.json"]) {
    const thrown = await rejection(loadSubmissionCheck(`${dir}/${name}`));
    expect(thrown instanceof RunnerError && thrown.message.startsWith(`${dir}/${name}: `)).toBe(true);
  }
});
