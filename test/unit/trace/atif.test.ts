import { expect, test } from "vitest";
import type { CassetteInput } from "../../../runner/base/formats/cassette.ts";
import type { ToolNaming } from "../../../runner/base/formats/tool-naming.ts";
import type { AgentTranscript, TranscriptCall } from "../../../runner/base/formats/transcript.ts";
import { isUnknown, type Known, unknown } from "../../../runner/base/unknown.ts";
import { buildTrajectory } from "../../../runner/trace/atif.ts";
import { summariseTrace } from "../../../runner/trace/summarise.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const naming: ToolNaming = { prefix: "", sanitise: true, own: ["shell"] };
const tools = [{ type: "function", function: { name: "shell" } }];

/** One request with two calls in its answer for each instruction, each of them an agent's start of its own. */
async function recorded(...instructions: readonly string[]) {
  const usage = { input: 100, output: 20, cachedInput: 40 };
  const cassette: CassetteInput = {
    schemaVersion: "1",
    modelSource: "scripted",
    conversations: [
      {
        scope: { task: "task-1", condition: "treatment" },
        exchanges: instructions.map(() => ({
          match: { turn: 1 },
          reply: {
            toolCalls: [
              { name: "shell", arguments: { command: "a" } },
              { name: "shell", arguments: { command: "b" } },
            ],
            usage,
          },
        })),
      },
    ],
  };
  await using gateway = await startGateway(testConfig({ model: { id: "m", baseUrl: null }, replay: true }), {
    cassette,
    open: false,
  });
  for (const content of instructions) {
    gateway.gateway.agentStarted();
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content }], tools });
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body })).text();
  }
  return await gateway.finish();
}

const call = (given: Partial<TranscriptCall>): TranscriptCall => ({
  ...{ id: null, name: "shell", arguments: null, isError: false, result: "out" },
  ...given,
});
const transcript = (calls: readonly TranscriptCall[]): AgentTranscript => ({
  version: "1",
  model: "m",
  startup: unknown("missing"),
  steps: [
    { source: "agent", text: "", reasoning: "Hm.", calls, at: "2026-11-30T15:01:44.109Z" },
    { source: "agent", text: "Done.", reasoning: null, calls: [], at: null },
  ],
  usage: unknown("missing"),
  end: { reason: "finished", detail: null },
});

async function build(transcripts: readonly Known<AgentTranscript>[], instructions = ["Do it."]) {
  const { trace, readObject } = await recorded(...instructions);
  const about = { trace, readObject, naming, serverTools: [] };
  return buildTrajectory({
    ...{ trace, readObject, transcripts, metrics: summariseTrace({ ...about, expectedOperations: null }) },
    agent: { name: "codex", version: "0.171.0" },
    trial: { task: "task-1", condition: "treatment", repetition: 1, attempt: 1 },
  });
}

test("a transcript without ids and arguments is completed from the model's own answers; tokens are the gateway's", async () => {
  const trajectory = await build([transcript([call({}), call({ isError: true, result: null })])]);
  expect(trajectory).toMatchObject({
    schema_version: "ATIF-v1.7",
    agent: { name: "codex", version: "0.171.0", model_name: "m" },
    steps: [
      { step_id: 1, source: "user", message: "Do it." },
      {
        ...{ step_id: 2, source: "agent", timestamp: "2026-11-30T15:01:44.109Z", reasoning_content: "Hm." },
        tool_calls: [
          { tool_call_id: "call_1_1", function_name: "shell", arguments: { command: "a" }, extra: { is_error: false } },
          { tool_call_id: "call_1_2", function_name: "shell", arguments: { command: "b" }, extra: { is_error: true } },
        ],
        observation: { results: [{ source_call_id: "call_1_1", content: "out" }] },
      },
      { step_id: 3, source: "agent", message: "Done." },
    ],
    final_metrics: {
      ...{ total_prompt_tokens: 100, total_completion_tokens: 20, total_cached_tokens: 40 },
      ...{ total_cost_usd: 0, total_steps: 3 },
    },
    extra: { task: "task-1", model_source: "scripted" },
  });
});

test("a call that no model wrote keeps what the transcript says, and says what is not known", async () => {
  const trajectory = await build([transcript([call({ name: "other" }), call({ arguments: '{"command":"b"}' })])]);
  expect(trajectory).toMatchObject({
    steps: [
      {},
      {
        tool_calls: [
          {
            ...{ tool_call_id: "call-1", function_name: "other", arguments: {} },
            extra: { is_error: false, arguments: "not known" },
          },
          { tool_call_id: "call_1_2", arguments: { command: "b" } },
        ],
      },
      {},
    ],
  });
});

test("a transcript that is not known gives no trajectory, and the reason", async () => {
  expect(await build([unknown("truncated", "torn")])).toEqual({ unknown: "truncated", detail: "torn" });
});

test("every step of a task has its own instruction before what its agent did", async () => {
  const one = transcript([call({ arguments: '{"command":"a"}' })]);
  const two = transcript([call({ arguments: '{"command":"b"}' })]);
  const trajectory = await build([one, two], ["First.", "Second."]);
  if (isUnknown(trajectory)) throw new Error(trajectory.detail);
  expect(trajectory.steps.map(({ step_id, source, message }) => [step_id, source, message])).toEqual([
    [1, "user", "First."],
    [2, "agent", ""],
    [3, "agent", "Done."],
    [4, "user", "Second."],
    [5, "agent", ""],
    [6, "agent", "Done."],
  ]);
});
