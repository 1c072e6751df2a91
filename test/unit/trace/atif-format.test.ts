import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { MODEL_AGENTS } from "../../../runner/agent/registry.ts";
import { isUnknown } from "../../../runner/base/unknown.ts";
import { buildTrajectory } from "../../../runner/trace/atif.ts";
import { summariseTrace } from "../../../runner/trace/summarise.ts";
import { atifSchema } from "../../support/atif.ts";
import { ROOT } from "../../support/e2e.ts";
import { type FinishedGateway, startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const FOLDER = join(ROOT, "test/fixtures/agents");
const FIXTURES = MODEL_AGENTS.flatMap((agent) =>
  readdirSync(join(FOLDER, agent.name)).map((file) => [agent.name, file, agent] as const),
);

let recorded: FinishedGateway;

/** One request that offers a tool: the least that a trajectory stands on. */
beforeAll(async () => {
  const exchanges = [{ match: { turn: 1 }, reply: { text: "Done.", usage: { input: 100, output: 10 } } }];
  await using gateway = await startGateway(testConfig({ model: { id: "scripted-1", baseUrl: null }, replay: true }), {
    cassette: {
      schemaVersion: "1",
      modelSource: "scripted",
      conversations: [{ scope: { task: "task-1", condition: "treatment" }, exchanges }],
    },
  });
  const messages = [{ role: "user", content: "Do it." }];
  const body = JSON.stringify({
    model: "scripted-1",
    messages,
    tools: [{ type: "function", function: { name: "f" } }],
  });
  await (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body })).text();
  recorded = await gateway.finish();
});

test("every agent has a recorded transcript", () => {
  expect([...new Set(FIXTURES.map(([name]) => name))]).toEqual(MODEL_AGENTS.map(({ name }) => name));
});

test.each(FIXTURES)("the trajectory of %s's %s holds to the rules of its format", (_name, file, agent) => {
  const { trace, readObject } = recorded;
  const transcript = agent.readTranscript(readFileSync(join(FOLDER, agent.name, file)), "standin");
  const naming = agent.naming("standin");
  const trajectory = buildTrajectory({
    ...{ trace, readObject, transcripts: [transcript], agent: { name: agent.name, version: agent.version } },
    metrics: summariseTrace({ trace, readObject, naming, serverTools: [], expectedOperations: null }),
    trial: { task: "task-1", condition: "treatment", repetition: 1, attempt: 1 },
  });
  if (isUnknown(transcript)) expect(trajectory).toEqual(transcript);
  else {
    const { steps } = atifSchema.parse(JSON.parse(JSON.stringify(trajectory)));
    const calls = steps.flatMap(({ tool_calls: made }) => made ?? []).map(({ function_name: called }) => called);
    expect(calls).toEqual(transcript.steps.flatMap((step) => step.calls.map(({ name }) => name)));
    expect(steps[0]).toEqual({ step_id: 1, source: "user", message: "Do it." });
  }
});

const agent = { name: "codex", version: "1" };
const asked = { step_id: 1, source: "user", message: "Do it." };
const call = { tool_call_id: "c1", function_name: "f", arguments: {} };
const answer = (more: object) => ({ step_id: 2, source: "agent", message: "", ...more });
const whole = (...steps: readonly object[]) => ({ schema_version: "ATIF-v1.7", agent, steps });

test.each<[string, object]>([
  ["no step", whole()],
  ["a step out of turn", whole({ ...asked, step_id: 2 })],
  ["a member that is not known", { ...whole(asked), tokens: 1 }],
  ["a version that is none", { ...whole(asked), schema_version: "1.7" }],
  ["an agent without a version", { ...whole(asked), agent: { name: "codex" } }],
  ["a call of the user's", whole({ ...asked, tool_calls: [call] })],
  ["arguments that are no object", whole(asked, answer({ tool_calls: [{ ...call, arguments: "{}" }] }))],
  ["a result of no call", whole(asked, answer({ observation: { results: [{ source_call_id: "c1", content: "" }] } }))],
  ["a time that is none", whole({ ...asked, timestamp: "yesterday" })],
  ["tokens that are no whole number", { ...whole(asked), final_metrics: { total_prompt_tokens: 1.5 } }],
])("the rules refuse %s", (_title, trajectory) => {
  expect(atifSchema.safeParse(trajectory).success).toBe(false);
});
