import { expect, test } from "vitest";
import type { ToolNaming } from "../../../runner/base/formats/tool-naming.ts";
import type { TraceEvent } from "../../../runner/base/formats/trace-events.ts";
import { judgeToolsOffered } from "../../../runner/trace/judge-tools.ts";

const TOOLLOOP: ToolNaming = { prefix: "", sanitise: true, own: ["shell"] };
const WITH_RESOURCES: ToolNaming = { ...TOOLLOOP, withServer: ["read_resource"] };
const CLAUDE: ToolNaming = { prefix: "mcp__jacobian__", sanitise: true, own: null };
const QWEN: ToolNaming = { prefix: "mcp__jacobian__", sanitise: false, own: null };
const serverTools = ["math.find", "math.run"];

function offers(...lists: readonly (readonly string[])[]): TraceEvent[] {
  return lists.map((names, index) => ({
    seq: index,
    us: index,
    type: "tools-offered",
    exchange: `x${index + 1}`,
    names: [...names],
    digest: `sha256:${"0".repeat(64)}`,
  }));
}

test.each<[string, "control" | "treatment", ToolNaming, readonly string[][], string, readonly string[]]>([
  ["exactly the server's tools", "treatment", TOOLLOOP, [["shell", "math_find", "math_run"]], "as-expected", []],
  [
    "a Claude-like treatment",
    "treatment",
    CLAUDE,
    [["Bash", "mcp__jacobian__math_find", "mcp__jacobian__math_run"]],
    "as-expected",
    [],
  ],
  [
    "names that keep their dots",
    "treatment",
    QWEN,
    [["mcp__jacobian__math.find", "mcp__jacobian__math.run"]],
    "as-expected",
    [],
  ],
  ["a plain control", "control", TOOLLOOP, [["shell"]], "as-expected", []],
  [
    "side requests without tools",
    "treatment",
    TOOLLOOP,
    [[], ["shell", "math_find", "math_run"], []],
    "as-expected",
    [],
  ],
  ["nothing but side requests", "treatment", TOOLLOOP, [[], []], "no-evidence", []],
  ["no request at all", "control", TOOLLOOP, [], "no-evidence", []],
  [
    "a tool that is missing",
    "treatment",
    TOOLLOOP,
    [["shell", "math_find"]],
    "violated",
    ["x1: the server's tool math_run was not offered"],
  ],
  [
    "a server that is lost later",
    "treatment",
    CLAUDE,
    [["mcp__jacobian__math_find", "mcp__jacobian__math_run"], ["Bash"], ["Bash"]],
    "violated",
    [
      "x2: the server's tool mcp__jacobian__math_find was not offered",
      "x2: the server's tool mcp__jacobian__math_run was not offered",
    ],
  ],
  [
    "another server beside the study's",
    "treatment",
    CLAUDE,
    [["mcp__jacobian__math_find", "mcp__jacobian__math_run", "mcp__leak__probe"]],
    "violated",
    ["x1: mcp__leak__probe is a tool of an MCP server that the study does not name"],
  ],
  [
    "a server's tool in control",
    "control",
    TOOLLOOP,
    [["shell", "math_run"]],
    "violated",
    ["x1: math_run is a tool of the MCP server, which control must not have"],
  ],
  [
    "a server's tool in control by its own name",
    "control",
    CLAUDE,
    [["math.run"]],
    "violated",
    ["x1: math.run is a tool of the MCP server, which control must not have"],
  ],
  [
    "any MCP tool in control",
    "control",
    CLAUDE,
    [["Bash", "mcp__other__x"]],
    "violated",
    ["x1: mcp__other__x is a tool of an MCP server that the study does not name"],
  ],
  [
    "a tool that the agent should not have",
    "control",
    TOOLLOOP,
    [["shell", "browser"]],
    "violated",
    ["x1: browser is neither the agent's own tool nor the study's"],
  ],
  [
    "several tools that the agent should not have",
    "control",
    TOOLLOOP,
    [["shell", "browser", "goal", "worktree"]],
    "violated",
    ["x1: browser, goal, worktree are neither the agent's own tools nor the study's"],
  ],
  [
    "a later request with fewer of the agent's own tools",
    "control",
    CLAUDE,
    [["Bash", "Read"], ["Bash", "Read"], [], ["Bash"]],
    "violated",
    ["x4: offered are other tools than in x1: Bash"],
  ],
  [
    "the tools for a server's resources in control",
    "control",
    WITH_RESOURCES,
    [["shell", "read_resource"]],
    "violated",
    ["x1: read_resource is neither the agent's own tool nor the study's"],
  ],
  [
    "the tools for a server's resources beside the server",
    "treatment",
    WITH_RESOURCES,
    [["shell", "read_resource", "math_find", "math_run"]],
    "as-expected",
    [],
  ],
  [
    "a tool offered twice",
    "treatment",
    TOOLLOOP,
    [["shell", "math_find", "math_run", "math_run"]],
    "violated",
    ["x1: math_run was offered twice"],
  ],
])("%s is judged", (_title, condition, naming, lists, verdict, problems) => {
  expect(judgeToolsOffered(offers(...lists), { condition, serverTools, naming })).toEqual({
    verdict,
    problems,
    requestsWithTools: lists.filter((names) => names.length > 0).length,
    requestsWithoutTools: lists.filter((names) => names.length === 0).length,
  });
});
