import { expect, test } from "vitest";
import { judgeRequests } from "../../../runner/trace/judge-requests.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const NAMING = { prefix: "", sanitise: true, own: ["shell"] };
const tool = (name: string) => ({ type: "function", function: { name } });
const TOOLS = [tool("shell"), tool("math_run")];

/** Sends chat requests through a treatment's gateway of a study that names an effort, or none. */
async function through(reasoningEffort: string | null, requests: readonly object[]) {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, chatAnswer("ok")));
  await using gateway = await startGateway(
    testConfig({
      model: { id: "model-1", baseUrl: provider.baseUrl },
      tools: { naming: NAMING, serverTools: ["math.run"], reasoningEffort },
    }),
  );
  const statuses: number[] = [];
  for (const more of requests) {
    const body = JSON.stringify({ model: "model-1", messages: [{ role: "user", content: "hi" }], ...more });
    const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
    statuses.push(answer.status);
    await answer.text();
  }
  const { trace, readObject } = await gateway.finish();
  const said = gateway.notices.find(({ notice }) => notice === "condition-violation");
  return { statuses, asked: provider.seen.length, said, trace, readObject };
}

test("a request with tools and another effort than the study's is refused before the provider sees it; one without tools may carry any", async () => {
  const requests = [{ tools: TOOLS, reasoning_effort: "high" }, {}, { tools: TOOLS, reasoning_effort: "low" }];
  const { statuses, asked, said } = await through("high", requests);
  expect([statuses, asked]).toEqual([[200, 200, 403], 2]);
  expect(said).toEqual({
    notice: "condition-violation",
    kind: "effort",
    detail: "the request's reasoning effort is low, and the study names high",
  });
});

test("in the treatment a request whose tools must not be chosen is refused like one that lacks them", async () => {
  const { statuses, said } = await through(null, [{ tools: TOOLS, tool_choice: "none" }]);
  expect(statuses).toEqual([403]);
  expect(said).toMatchObject({
    notice: "condition-violation",
    kind: "tools",
    detail: expect.stringContaining('tool_choice is "none"'),
  });
});

test("the requests of a trace are judged again from their bytes, each problem once", async () => {
  const requests = [{ tools: TOOLS }, { tools: TOOLS }, {}, { tools: TOOLS, reasoning_effort: "low" }];
  const { trace, readObject } = await through(null, requests);
  expect(judgeRequests(trace.events, readObject, { condition: "treatment", reasoningEffort: "high" })).toEqual([
    { kind: "effort", detail: "x1: the request names no reasoning effort, and the study names high" },
    { kind: "effort", detail: "x4: the request's reasoning effort is low, and the study names high" },
  ]);
  expect(judgeRequests(trace.events, readObject, { condition: "treatment", reasoningEffort: null })).toEqual([]);
  expect(judgeRequests(trace.events, () => undefined, { condition: "control", reasoningEffort: null })).toEqual([]);
});
