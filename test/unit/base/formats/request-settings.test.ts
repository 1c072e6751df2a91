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

const KEPT = (choice: string) => [
  { kind: "tools", detail: `tool_choice is ${choice}, which keeps the model from the tools that the request offers` },
];

test.each<[ModelApi, ExactJson, string | null]>([
  ["chat", {}, null],
  ["chat", { tool_choice: null }, null],
  ["chat", { tool_choice: "auto" }, null],
  ["chat", { tool_choice: "required" }, null],
  ["chat", { tool_choice: "none" }, '"none"'],
  ["chat", { function_call: "none" }, '"none"'],
  [
    "chat",
    { tool_choice: { type: "function", function: { name: "f" } } },
    '{"type":"function","function":{"name":"f"}}',
  ],
  ["responses", { tool_choice: "auto" }, null],
  ["responses", { tool_choice: "none" }, '"none"'],
  ["responses", { tool_choice: { type: "allowed_tools", mode: "auto" } }, '{"type":"allowed_tools","mode":"auto"}'],
  ["messages", { tool_choice: { type: "auto", disable_parallel_tool_use: true } }, null],
  ["messages", { tool_choice: { type: "any" } }, null],
  ["messages", { tool_choice: { type: "none" } }, '{"type":"none"}'],
  ["messages", { tool_choice: { type: "tool", name: "f" } }, '{"type":"tool","name":"f"}'],
])("in the treatment of %s, tools that the model may not choose are like missing ones: %j", (api, body, choice) => {
  const problems = choice === null ? [] : KEPT(choice);
  expect(judgeSettings(api, body, { condition: "treatment", reasoningEffort: null })).toEqual(problems);
  expect(judgeSettings(api, body, { condition: "control", reasoningEffort: null })).toEqual([]);
});
