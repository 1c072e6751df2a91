import { expect, test } from "vitest";
import { jacobianContract } from "../../support/mcp-servers-contract.ts";
import { startRecordedJacobian } from "../../support/mcp-servers-jacobian.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

test("the recorded stand-in keeps the pinned server's contract, directly and through the gateway", async () => {
  await using server = await startRecordedJacobian();
  expect(await jacobianContract(server.url)).toEqual([]);
  await using gateway = await startGateway(testConfig({ mcp: { url: server.url } }));
  expect(await jacobianContract(`${gateway.url}/mcp`)).toEqual([]);
});
