import { expect, test } from "vitest";
import type { TraceEvent, TraceEventOf } from "../../../runner/base/formats/trace-events.ts";
import { recheckTrace } from "../../../runner/trace/recheck-trace.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const PRICES = { input: 1_250_000, cachedInput: 125_000, output: 10_000_000 };

/** The trace of three live requests: an answer that is billed, a refused request, and one that a broken service did not answer. */
async function liveTrace(prices: object | null = PRICES) {
  const answers = [
    {
      status: 200,
      body: chatAnswer("hello", {
        prompt_tokens: 1001,
        completion_tokens: 33,
        prompt_tokens_details: { cached_tokens: 600 },
      }),
    },
    { status: 400, body: { error: { type: "invalid_request_error", message: "no" } } },
    { status: 500, body: { error: { type: "server_error", message: "down" } } },
  ];
  let asked = 0;
  await using provider = await startModelProvider((_request, response) => {
    const { status, body } = answers[asked++] ?? { status: 500, body: {} };
    sendJson(response, status, body);
  });
  await using gateway = await startGateway(
    testConfig({
      model: { id: "model-1", baseUrl: provider.baseUrl, apiKey: "sk-0123456789abcdef", pricesMicroUsdPerMTok: prices },
    } as Parameters<typeof testConfig>[0]),
  );
  const body = JSON.stringify({ model: "model-1", messages: [{ role: "user", content: "hi" }], max_tokens: 100 });
  for (const _answer of answers) {
    const headers = { "content-type": "application/json" };
    await (await fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", headers, body })).text();
  }
  const { trace, readObject } = await gateway.finish();
  return { events: trace.events, recheck: (events: readonly TraceEvent[]) => recheckTrace(events, readObject) };
}

function change<T extends TraceEvent["type"]>(
  events: readonly TraceEvent[],
  type: T,
  index: number,
  changes: Partial<TraceEventOf<T>>,
): TraceEvent[] {
  const chosen = events.filter((event) => event.type === type)[index];
  return events.map((event) => (event === chosen ? ({ ...event, ...changes } as TraceEvent) : event));
}

test("the cost of a live answer comes out again from its usage and the gateway's prices", async () => {
  const { events, recheck } = await liveTrace();
  const costs = events.filter((event) => event.type === "model-response").map(({ costMicroUsd }) => costMicroUsd);
  expect(costs).toEqual([
    Math.ceil(401 * 1.25) + 75 + 330,
    0,
    { unknown: "missing", detail: "the provider answered 500" },
  ]);
  expect(recheck(events)).toEqual([]);
});

test("without prices the cost is unknown, and that comes out again as well", async () => {
  const { events, recheck } = await liveTrace(null);
  expect(recheck(events)).toEqual([]);
  expect(recheck(change(events, "model-response", 0, { costMicroUsd: 0 }))).toEqual([
    'event 5 (x1): the answer costs {"unknown":"unavailable","detail":"the study names no prices"} micro-dollars by its usage, the trace says 0',
  ]);
});

test("an edited cost, usage or price of a live trace is named with both values", async () => {
  const { events, recheck } = await liveTrace();
  const cheaper = "the answer costs 907 micro-dollars by its usage, the trace says 1";
  expect(recheck(change(events, "model-response", 0, { costMicroUsd: 1 }))).toEqual([`event 5 (x1): ${cheaper}`]);
  expect(recheck(change(events, "model-response", 2, { costMicroUsd: 0 }))).toEqual([
    'event 11 (x3): the answer costs {"unknown":"missing","detail":"the provider answered 500"} micro-dollars by its usage, the trace says 0',
  ]);
  const [start] = events.filter((event) => event.type === "start");
  const prices = { ...start?.prices, output: 20_000_000 } as NonNullable<TraceEventOf<"start">["prices"]>;
  expect(recheck(change(events, "start", 0, { prices }))).toEqual([
    "event 5 (x1): the answer costs 1237 micro-dollars by its usage, the trace says 907",
  ]);
  const zero = { input: 0, cachedInput: 0, cacheWriteInput: 0, output: 0, reasoning: 0 };
  expect(recheck(change(events, "model-response", 2, { usage: zero, costMicroUsd: 0 }))).toEqual([
    expect.stringMatching(
      /^event 11 \(x3\): the answer's usage is .*the provider answered 500.*, the trace says .*"input":0/,
    ),
  ]);
});
