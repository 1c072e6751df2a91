import { expect, test } from "vitest";
import type { Draft } from "../../../runner/trial/context.ts";
import type { GatewaySet } from "../../../runner/trial/gateway-set.ts";
import { judgeServer } from "../../../runner/trial/judge-server.ts";

const failure = (outcome: NonNullable<Draft["failure"]>["outcome"], code: string): Draft["failure"] => ({
  ...{ outcome, cause: { code, detail: "as it was seen" } },
});
function server(state: object): GatewaySet["mcp"] {
  return { container: { state: async () => state }, lastWords: () => "no room" } as unknown as GatewaySet["mcp"];
}
const DEAD = server({ running: false, exitCode: 137, oomKilled: true });
const DIED = {
  outcome: "invalid_condition",
  cause: {
    code: "MCP_SERVER_DIED",
    detail: "the MCP server ended with exit code 137, out of memory before the trial did: no room",
  },
};

test.each([
  ["a trial that failed at nothing", null, DIED],
  ["an agent that could not use it", failure("invalid_condition", "MCP_NOT_USABLE"), DIED],
  ["an agent that then lacked its tools", failure("invalid_condition", "CONDITION_TOOLS"), DIED],
  [
    "a provider that failed",
    failure("provider_error", "PROVIDER_STATUS"),
    failure("provider_error", "PROVIDER_STATUS"),
  ],
  ["an interruption", failure("interrupted", "INTERRUPTED"), failure("interrupted", "INTERRUPTED")],
])("a server that died is named as the cause, or not, of %s", async (_title, before, after) => {
  expect(await judgeServer(DEAD, before, AbortSignal.timeout(1000))).toEqual(after);
});

test("a server that lives, and a control that has none, change nothing", async () => {
  const seen = failure("invalid_condition", "CONDITION_TOOLS");
  const signal = AbortSignal.timeout(1000);
  expect(await judgeServer(server({ running: true, exitCode: null, oomKilled: false }), seen, signal)).toBe(seen);
  expect(await judgeServer(null, seen, signal)).toBe(seen);
});
