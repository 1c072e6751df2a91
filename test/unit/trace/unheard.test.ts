import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { unheardModel } from "../../../runner/trace/unheard.ts";
import { chatAnswer, sendJson, startModelProvider } from "../../support/model-provider.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

type Handler = (response: ServerResponse) => void;
const TOOLS = [{ type: "function", function: { name: "shell" } }];
const main = { tools: TOOLS };
const side = {};
const well: Handler = (response) => sendJson(response, 200, chatAnswer("ok"));
const refuse: Handler = (response) => sendJson(response, 400, { error: { message: "no such parameter" } });
const silence: Handler = () => undefined;
const onlyHeaders: Handler = (response) =>
  response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders();
const cutShort: Handler = (response) =>
  void response.writeHead(200, { "content-type": "text/event-stream" }).write('data: {"choices":[]}\n\n');

/** Sends requests one after the other, each to its own handler, and ends the agent's time. */
async function after(...exchanges: readonly (readonly [object, Handler])[]) {
  const arrivals: (() => void)[] = [];
  let next = 0;
  await using provider = await startModelProvider((_request, response) => {
    exchanges[next]?.[1](response);
    arrivals[next]?.();
    next += 1;
  });
  await using gateway = await startGateway(testConfig({ model: { id: "m", baseUrl: provider.baseUrl } }));
  for (const [more, handler] of exchanges) {
    const arrived = new Promise<void>((resolve) => arrivals.push(resolve));
    const body = JSON.stringify({ model: "m", messages: [{ role: "user", content: "hi" }], ...more });
    const asked = fetch(`${gateway.url}/v1/chat/completions`, { method: "POST", body });
    asked.catch(() => undefined);
    if (handler === silence) await arrived;
    else if (handler === cutShort) await (await asked).body?.getReader().read();
    else if (handler === onlyHeaders) await asked;
    else await (await asked).text();
  }
  const { trace, readObject } = await gateway.finish();
  return unheardModel(trace.events, readObject);
}

test("a provider that refused every request with tools is named, with its last words", async () => {
  expect(await after([main, refuse], [main, refuse])).toEqual({
    code: "PROVIDER_REFUSED",
    detail:
      'the provider refused every request that offered tools, the last one with {"error":{"message":"no such parameter"}} (status 400)',
  });
});

test("an answered side request shows nothing of the model that was to do the work", async () => {
  expect(await after([side, well], [main, refuse])).toMatchObject({ code: "PROVIDER_REFUSED" });
});

test.each([
  ["no answer at all", silence],
  ["headers and nothing more", onlyHeaders],
])("a provider that gave %s is named", async (_title, handler) => {
  expect(await after([main, handler])).toEqual({
    code: "PROVIDER_SILENT",
    detail: "the provider took 1 request that offered tools and had answered none of them when the agent ended",
  });
});

test.each<[string, readonly (readonly [object, Handler])[]]>([
  [
    "a refusal after an answer",
    [
      [main, well],
      [main, refuse],
    ],
  ],
  [
    "silence after an answer",
    [
      [main, well],
      [main, silence],
    ],
  ],
  ["an answer that had begun", [[main, cutShort]]],
  ["no request with tools", [[side, well]]],
  ["no request", []],
])("%s is not the provider's failure", async (_title, exchanges) => {
  expect(await after(...exchanges)).toBeNull();
});
