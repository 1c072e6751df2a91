import { expect, test } from "vitest";
import { CLAUDE_CODE } from "../../../runner/agent/claude-code/agent.ts";
import { digestBytes } from "../../../runner/base/digest.ts";
import { startupProblems } from "../../../runner/trial/judge-condition.ts";
import type { StepRecord } from "../../../runner/trial/record.ts";

const naming = CLAUDE_CODE.naming("jacobian");
const START = JSON.stringify({
  type: "system",
  subtype: "init",
  tools: ["Bash", "Edit", "Read", "Write"],
  mcp_servers: [{ name: "planted", status: "connected" }],
});

async function problemsOf(stdout: string): Promise<string[]> {
  const bytes = Buffer.from(stdout);
  const head = { digest: digestBytes(bytes), bytes: bytes.length };
  const capture = { bytes: bytes.length, truncated: false, head, tail: null };
  const step = { name: "default", agentOutput: { stdout: capture, stderr: capture } } as unknown as StepRecord;
  const store = { readAll: async () => bytes };
  return await startupProblems(store, CLAUDE_CODE, "jacobian", [step], {
    ...{ condition: "control", serverTools: ["math.run"], naming },
  });
}

const PROBLEM = ["by the agent's own start-up event of step default, it has the MCP servers planted"];

test.each([
  ["whole", `${START}\n`],
  ["torn by the end of the agent", `${START}\n{"type":"assistant","mess`],
  ["followed by a line that is no event", `${START}\nnot JSON\n{"type":"result"}\n`],
])("what an agent says at its start counts in a transcript that is %s", async (_title, stdout) => {
  expect(await problemsOf(stdout)).toEqual(PROBLEM);
});

test("an agent that was ended before its first line says nothing", async () => {
  expect(await problemsOf("")).toEqual([]);
  expect(await problemsOf(START)).toEqual([]);
});
