import { expect, test } from "vitest";
import { stripCanary } from "../../../runner/task/instruction.ts";

test.each([
  ["Do it.\n", "Do it.\n"],
  ["<!-- CANARY 1 -->\n\n\nDo it.\n", "Do it.\n"],
  ["# canary a\n<!-- canary b -->\n\nDo it.\n", "Do it.\n"],
  ["# A heading\n\nDo it.\n", "# A heading\n\nDo it.\n"],
  ["Do it.\n# canary\n", "Do it.\n# canary\n"],
  ["\n# canary\nDo it.\n", "\n# canary\nDo it.\n"],
  ["# canary\r\n\r\nDo it.\r\n", "Do it.\r\n"],
  ["# canary\n", ""],
])("the prompt of %j is %j", (text, expected) => {
  expect(stripCanary(text)).toBe(expected);
});
