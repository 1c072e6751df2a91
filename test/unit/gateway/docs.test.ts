import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { TOOLLOOP_NAMING, toolloopConfigSchema } from "../../../runner/agent/toolloop/config.ts";
import { type LoopEvent, runLoop } from "../../../runner/agent/toolloop/loop.ts";
import { cassetteSchema, normalizersSchema } from "../../../runner/base/formats/cassette.ts";
import { gatewayNoticeSchema } from "../../../runner/base/formats/gateway-protocol.ts";
import { traceEventSchema } from "../../../runner/base/formats/trace-events.ts";
import { startRecordedJacobian } from "../../support/mcp-servers-jacobian.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const page = (name: string) => readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), "utf8");

/** The block of a page that carries a mark behind its language. */
function block(name: string, mark: string): unknown {
  const found = new RegExp(`\`\`\`json ${mark}\\n([^]*?)\`\`\``).exec(page(name));
  return JSON.parse(found?.[1] ?? "null");
}

test("the cassette of the docs runs against recorded Jacobian answers to its end", async () => {
  const cassette = cassetteSchema.parse(block("cassettes", "cassette"));
  // The example writes into a task's folder, which is not there.
  const text = JSON.stringify(cassette).replaceAll(" > /app/submission.json", "");
  await using server = await startRecordedJacobian();
  await using gateway = await startGateway(
    testConfig({
      scope: { task: "smith-normal-form-01", condition: "treatment", repetition: 1 },
      model: { id: "model-1", baseUrl: null },
      replay: true,
      mcp: { url: server.url },
      tools: { naming: TOOLLOOP_NAMING, serverTools: ["math.find", "math.run"] },
    }),
    { cassette: JSON.parse(text) },
  );
  const events: LoopEvent[] = [];
  const config = toolloopConfigSchema.parse({
    schemaVersion: "1",
    instruction: "Give the Smith normal form.",
    model: "model-1",
    baseUrl: `${gateway.url}/v1`,
    mcpUrl: `${gateway.url}/mcp`,
    workdir: "/",
  });
  expect(await runLoop(config, (event) => events.push(event))).toBe("finished");
  expect(events.findLast(({ type }) => type === "assistant")?.text).toBe("The invariant factors are 2 and 4.");
  await gateway.finish();
  expect(gateway.notices.at(-1)).toMatchObject({ notice: "finished", cassette: { served: 3, unserved: 0 } });
});

test("the normalizers of the docs are valid", () => {
  expect(normalizersSchema.safeParse(block("cassettes", "normalizers")).success).toBe(true);
});

test("every event of the trace and every notice of the gateway is in the docs", () => {
  const trace = page("trace");
  const gateway = page("gateway");
  for (const { shape } of traceEventSchema.options) expect(trace).toContain(`\`${shape.type.value}\``);
  for (const { shape } of gatewayNoticeSchema.options) expect(gateway).toContain(`\`${shape.notice.value}\``);
});
