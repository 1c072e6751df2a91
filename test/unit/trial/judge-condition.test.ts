import { expect, test } from "vitest";
import { CLAUDE_CODE } from "../../../runner/agent/claude-code/agent.ts";
import { judgeEvidence } from "../../../runner/trial/judge-condition.ts";
import type { TrialSpec } from "../../../runner/trial/spec.ts";
import { sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const OWN = ["Bash", "Edit", "Read", "Write"].map((name) => ({ name, input_schema: {} }));

/** Judges a control trial of Claude Code whose agent sent these requests, and said that its provider failed. */
async function judge(...requests: readonly object[]) {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 400, {}));
  const model = { id: "claude-opus-4-1", baseUrl: provider.baseUrl };
  await using gateway = await startGateway(
    testConfig({ model, scope: { task: "task-1", condition: "control", repetition: 1 } }),
  );
  for (const more of requests) {
    const body = JSON.stringify({ model: "claude-opus-4-1", max_tokens: 9, messages: [], ...more });
    await (await fetch(`${gateway.url}/v1/messages`, { method: "POST", body })).text();
  }
  const read = await gateway.finish();
  const agent = { kind: "model", agent: CLAUDE_CODE, reasoningEffort: null };
  const spec = { agent, condition: "control", mcp: null } as unknown as TrialSpec;
  const store = { readAll: async () => Buffer.alloc(0) };
  const told = { code: "PROVIDER_FAILED", detail: "API Error: 403" };
  return await judgeEvidence(store, spec, read, [], { outcome: "provider_error", cause: told });
}

test("an agent that asks for another model than the study's is named, with what to do about it", async () => {
  expect(await judge({ model: "claude-opus-4-8", tools: OWN })).toEqual({
    outcome: "invalid_condition",
    cause: {
      code: "CONDITION_MODEL",
      detail:
        "the agent asked for another model than the study's, so none of its requests with tools went out: this study's model is claude-opus-4-1, not claude-opus-4-8. Name in the study (model.id) the model that the agent asks for, or one that it asks for under its own name",
    },
  });
});

test("requests that were refused for something else are named where nothing proves the condition", async () => {
  expect(await judge({ n: 2, tools: OWN })).toMatchObject({
    outcome: "invalid_condition",
    cause: { code: "CONDITION_UNPROVEN", detail: expect.stringMatching(/; the last request was refused: one answer/) },
  });
});

test("a model's name that is refused beside the study's own is no violation, and the provider's own refusal says more than the agent", async () => {
  expect(await judge({ model: "claude-haiku-4-5" }, { tools: OWN })).toMatchObject({
    outcome: "provider_error",
    cause: { code: "PROVIDER_REFUSED" },
  });
});
