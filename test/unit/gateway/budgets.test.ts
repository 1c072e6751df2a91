import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import type { GatewayConfigInput } from "../../../runner/base/formats/gateway-config.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const BODY = JSON.stringify({ model: "model-1", messages: [], max_tokens: 90 });

function config(baseUrl: string, budgets: GatewayConfigInput["budgets"], prices?: object): GatewayConfigInput {
  return testConfig({
    model: { id: "model-1", baseUrl, ...(prices === undefined ? {} : { pricesMicroUsdPerMTok: prices as never }) },
    budgets,
  });
}

async function ask(url: string): Promise<number> {
  const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: BODY });
  await answer.text();
  return answer.status;
}

test("ten requests at once cannot pass a budget of three", async () => {
  await using provider = await startModelProvider(async (_request, response) => {
    await delay(20);
    sendJson(response, 200, chatAnswer("x"));
  });
  await using gateway = await startGateway(config(provider.baseUrl, { modelRequests: 3 }));
  const statuses = await Promise.all(Array.from({ length: 10 }, () => ask(gateway.url)));
  expect(statuses.toSorted()).toEqual([200, 200, 200, ...Array(7).fill(429)]);
  expect(provider.seen).toHaveLength(3);
  expect(gateway.notices.filter(({ notice }) => notice === "budget-exhausted")).toEqual([
    { notice: "budget-exhausted", budget: "modelRequests", limit: 3, used: 3 },
  ]);
});

test("tokens are reserved before a request goes out and settled by its usage", async () => {
  await using provider = await startModelProvider(async (_request, response) => {
    await delay(20);
    sendJson(response, 200, chatAnswer("x", { prompt_tokens: 10, completion_tokens: 10 }));
  });
  // A request reserves 90 for its output and a third of its bytes for its input: two fit at once, not three.
  await using gateway = await startGateway(config(provider.baseUrl, { tokens: 250 }));
  expect((await Promise.all([ask(gateway.url), ask(gateway.url), ask(gateway.url)])).toSorted()).toEqual([
    200, 200, 429,
  ]);
  // Both used 20 of what they had reserved, so there is room again.
  expect(await ask(gateway.url)).toBe(200);
});

test("a request without usage keeps its reservation", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(response, 200, chatAnswer("x", null)),
  );
  await using gateway = await startGateway(config(provider.baseUrl, { tokens: 250 }));
  expect([await ask(gateway.url), await ask(gateway.url), await ask(gateway.url)]).toEqual([200, 200, 429]);
  const finished = await gateway.finish();
  expect(finished.of("model-response")[0]?.usage.input).toEqual({
    unknown: "missing",
    detail: "the answer has no usage",
  });
  expect(finished.of("budget")).toMatchObject([
    { budget: "tokens", limit: 250, used: 0, reserved: 214, kind: "exhausted" },
  ]);
});

test("a cost budget counts micro-dollars, and an answer that costs more than it reserved is recorded as an overrun", async () => {
  await using provider = await startModelProvider((_request, response) =>
    sendJson(response, 200, chatAnswer("x", { prompt_tokens: 1000, completion_tokens: 1000 })),
  );
  const prices = { input: 1_000_000, output: 2_000_000 };
  await using gateway = await startGateway(config(provider.baseUrl, { costMicroUsd: 2500 }, prices));
  expect([await ask(gateway.url), await ask(gateway.url)]).toEqual([200, 429]);
  const finished = await gateway.finish();
  expect(finished.of("budget")).toMatchObject([
    { budget: "costMicroUsd", used: 3000, kind: "overrun" },
    { budget: "costMicroUsd", used: 3000, kind: "exhausted" },
  ]);
});

test("when the agent's seconds are over, what is in flight is cut and nothing more passes", async () => {
  await using provider = await startModelProvider(() => undefined);
  await using gateway = await startGateway(config(provider.baseUrl, { agentSeconds: 0.2 }));
  await expect(ask(gateway.url)).rejects.toThrow();
  expect(await ask(gateway.url)).toBe(503);
  expect(gateway.notices).toContainEqual({ notice: "budget-exhausted", budget: "agentSeconds", limit: 0.2, used: 0.2 });
});

test("the budget's error names the budget and tells client libraries not to retry", async () => {
  await using provider = await startModelProvider((_request, response) => sendJson(response, 200, chatAnswer("x")));
  await using gateway = await startGateway(config(provider.baseUrl, { modelRequests: 1 }));
  await ask(gateway.url);
  const answer = await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body: BODY });
  expect([answer.status, answer.headers.get("x-should-retry"), await answer.json()]).toEqual([
    429,
    "false",
    {
      error: {
        message: "the trial's budget modelRequests of 1 is exhausted",
        type: "rate_limit_exceeded",
        param: null,
        code: "budget_exhausted",
      },
    },
  ]);
});
