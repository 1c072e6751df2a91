import { parse } from "smol-toml";
import { expect, test } from "vitest";
import { CODEX } from "../../../../runner/agent/codex/agent.ts";
import type { LaunchContext } from "../../../../runner/agent/model-agent.ts";

const context: LaunchContext = {
  instruction: 'Say "hello" and\nnothing else.',
  modelId: "gpt-x",
  reasoningEffort: null,
  gatewayUrl: "http://gateway:8080",
  mcp: null,
  modelRequests: 5,
  home: "/var/agent-home",
  runtime: "/opt/agent",
  workdir: "/app",
};
const configOf = (changes: Partial<LaunchContext>) => {
  const { files } = CODEX.launch({ ...context, ...changes });
  const file = files.find(({ path }) => path === "/var/agent-home/config.toml");
  return parse(file?.content ?? "");
};

test("treatment differs from control by one MCP server alone, which must be there", () => {
  const { mcp_servers, ...treatment } = configOf({ mcp: { name: "jaco-bian" } });
  expect(treatment).toEqual(configOf({}));
  expect(mcp_servers).toEqual({
    jaco_bian: { url: "http://gateway:8080/mcp", required: true, startup_timeout_sec: 120, tool_timeout_sec: 86_400 },
  });
});

test("the instruction goes by file, and the effort into the settings", () => {
  const { argv, env, files } = CODEX.launch(context);
  expect(argv.slice(0, 6)).toEqual([
    "/bin/sh",
    "-c",
    'exec "$@" <"$0"',
    "/var/agent-home/instruction.md",
    "/opt/agent/bin/codex",
    "exec",
  ]);
  expect(argv.join(" ")).not.toContain("hello");
  expect(files.find(({ path }) => path.endsWith("instruction.md"))?.content).toBe(context.instruction);
  expect(env).toEqual({ HOME: "/var/agent-home", CODEX_HOME: "/var/agent-home" });
  expect(configOf({ reasoningEffort: "high" })).toMatchObject({ model: "gpt-x", model_reasoning_effort: "high" });
});

test("names of a server with other characters are shown as Codex shows them", () => {
  expect(CODEX.naming("jaco-bian.x").prefix).toBe("mcp__jaco_bian_x__");
});
