import { expect, test } from "vitest";
import type { ModelApi } from "../../../../runner/base/formats/common.ts";
import { judgeSettings } from "../../../../runner/base/formats/request-settings.ts";
import type { ExactJson } from "../../../../runner/base/json.ts";

const NONE = "the request names no reasoning effort, and the study names high";

test.each<[string, ModelApi, ExactJson, string | null]>([
  ["Responses with the study's", "responses", { reasoning: { effort: "high" } }, null],
  ["Chat Completions with the study's", "chat", { reasoning_effort: "high" }, null],
  ["Chat Completions with the study's as an object", "chat", { reasoning: { effort: "high" } }, null],
  [
    "Messages with the study's",
    "messages",
    { output_config: { effort: "high" }, thinking: { type: "adaptive" } },
    null,
  ],
  ["Responses without", "responses", { reasoning: null }, NONE],
  ["Chat Completions without", "chat", {}, NONE],
  ["Messages without", "messages", {}, NONE],
  [
    "Messages with a budget of thinking in its place",
    "messages",
    { thinking: { type: "enabled", budget_tokens: 31_999 } },
    `${NONE} (its thinking is {"type":"enabled","budget_tokens":31999})`,
  ],
  [
    "another",
    "responses",
    { reasoning: { effort: "medium" } },
    "the request's reasoning effort is medium, and the study names high",
  ],
])("an effort is judged: %s", (_title, api, body, problem) => {
  const found = problem === null ? [] : [{ kind: "effort", detail: problem }];
  expect(judgeSettings(api, body, { condition: "control", reasoningEffort: "high" })).toEqual(found);
});

test("where the study names no effort, a request may carry any", () => {
  const expected = { condition: "treatment", reasoningEffort: null } as const;
  expect(judgeSettings("chat", { reasoning_effort: "low" }, expected)).toEqual([]);
  expect(judgeSettings("chat", {}, expected)).toEqual([]);
});
