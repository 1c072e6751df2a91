import { expect, test } from "vitest";
import type { ToolNaming } from "../../../runner/base/formats/tool-naming.ts";
import { judgeStartup } from "../../../runner/trace/judge-startup.ts";

const naming: ToolNaming = { prefix: "mcp__jacobian__", sanitise: true, own: ["Bash"] };
const serverTools = ["math.run"];
const jacobian = (status: string) => ({ name: "jacobian", status });
const TREATED = ["Bash", "mcp__jacobian__math_run"];

test.each([
  ["a treatment with its server", "treatment", TREATED, [jacobian("connected")], []],
  ["a control with nothing", "control", ["Bash"], [], []],
  ["a server that failed", "treatment", TREATED, [jacobian("failed")], ["its MCP server jacobian is failed"]],
  [
    "a server that is not there",
    "treatment",
    ["Bash"],
    [],
    ["it has 0 MCP servers, not one", "the server's tool mcp__jacobian__math_run was not offered"],
  ],
  [
    "a second server",
    "treatment",
    TREATED,
    [jacobian("connected"), { name: "planted", status: "connected" }],
    ["it has 2 MCP servers, not one"],
  ],
  ["a server in control", "control", ["Bash"], [jacobian("connected")], ["it has the MCP servers jacobian"]],
  [
    "a tool that the agent should not have",
    "control",
    ["Bash", "WebSearch"],
    [],
    ["WebSearch is neither the agent's own tool nor the study's"],
  ],
] as const)("%s is judged from the start-up event", (_title, condition, tools, servers, problems) => {
  expect(judgeStartup({ tools, servers }, { condition, serverTools, naming })).toEqual(problems);
});
