import { expect, test } from "vitest";
import { run } from "../../../runner/cli/agents-list.ts";

async function list(json: boolean): Promise<string> {
  let out = "";
  const io = {
    out: (text: string) => {
      out += text;
    },
    say: () => undefined,
    env: {},
    cwd: "/",
    projectRoot: "/",
    signal: AbortSignal.timeout(10_000),
    interactive: false,
  };
  expect(await run({ json }, [], io)).toBe(0);
  return out;
}

test("the list names every agent with its release, its APIs and its tools", async () => {
  const { agents, withoutModel } = JSON.parse(await list(true));
  expect(withoutModel).toEqual(["oracle", "nop", "command"]);
  expect(agents.map(({ name, apis, image }: Record<string, unknown>) => [name, apis, image])).toEqual([
    ["toolloop", ["chat"], "agent-toolloop"],
    ["codex", ["responses"], "agent-codex"],
    ["claude-code", ["messages"], "agent-claude-code"],
    ["opencode", ["chat"], "agent-opencode"],
    ["qwen-coder", ["chat"], "agent-qwen-coder"],
  ]);
  expect(agents.at(-1)).toEqual({
    name: "qwen-coder",
    version: "0.15.10",
    npm: "@qwen-code/qwen-code@0.15.10",
    image: "agent-qwen-coder",
    apis: ["chat"],
    reasoningEfforts: null,
    tools: [
      "edit",
      "glob",
      "grep_search",
      "list_directory",
      "read_file",
      "run_shell_command",
      "todo_write",
      "write_file",
    ],
    toolsWithServer: [],
    callIds: false,
  });
});

test("in words, an agent's lines begin with its name and release", async () => {
  const lines = (await list(false)).split("\n");
  expect(lines.filter((line) => !line.startsWith(" "))).toEqual([
    "toolloop 1",
    "codex 0.171.0 (@openai/codex@0.171.0)",
    "claude-code 2.1.332 (@anthropic-ai/claude-code@2.1.332)",
    "opencode 1.18.33 (opencode-ai@1.18.33)",
    "qwen-coder 0.15.10 (@qwen-code/qwen-code@0.15.10)",
    "without a model: oracle, nop, command",
    "",
  ]);
});
