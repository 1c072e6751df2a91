import { messageOf } from "../../base/errors.ts";
import { type ExactJson, isObject } from "../../base/json.ts";
import { parseExactJson } from "../../base/strict-json.ts";
import { type ChatMessage, openChat, type ToolCall } from "./chat-client.ts";
import type { ToolloopConfig, ToolloopEnd } from "./config.ts";
import { LoopEnded } from "./ended.ts";
import { connectMcp, type McpTools, type OfferedTool, type ToolOutcome } from "./mcp-tools.ts";
import { runShell } from "./shell-tool.ts";

/** One line of the transcript. */
export type LoopEvent = { readonly type: string; readonly [key: string]: unknown };

/** The same words in both conditions: they say where the agent is and how it ends, and nothing about how to work. */
const SYSTEM = "You work in a Linux container. When you are done, answer without calling a tool.";

const SHELL: OfferedTool = {
  name: "shell",
  description: "Runs a command with /bin/sh -c and returns its exit code and output.",
  parameters: {
    type: "object",
    properties: { command: { type: "string", description: "The command to run." } },
    required: ["command"],
    additionalProperties: false,
  },
};

/** Runs the conversation to its end and returns why it ended. */
export async function runLoop(config: ToolloopConfig, say: (event: LoopEvent) => void): Promise<ToolloopEnd> {
  try {
    await using mcp = config.mcpUrl === null ? null : await connectMcp(config.mcpUrl);
    const reason = await converse(config, mcp, say);
    say({ type: "end", reason, detail: null });
    return reason;
  } catch (thrown) {
    if (!(thrown instanceof LoopEnded)) throw thrown;
    say({ type: "end", reason: thrown.reason, detail: thrown.message });
    return thrown.reason;
  }
}

async function converse(
  config: ToolloopConfig,
  mcp: McpTools | null,
  say: (event: LoopEvent) => void,
): Promise<ToolloopEnd> {
  await using chat = openChat(config);
  const tools = [SHELL, ...(mcp?.offered ?? [])];
  const messages: ChatMessage[] = [
    { role: "system", content: SYSTEM },
    { role: "user", content: config.instruction },
  ];
  say({
    type: "start",
    schemaVersion: "1",
    model: config.model,
    tools: tools.map(({ name }) => name),
    mcp: mcp !== null,
  });
  for (let turn = 1; turn <= config.maxTurns; turn += 1) {
    const answer = await chat.ask(messages, tools);
    messages.push(answer.message);
    const { text, refusal, toolCalls, finish, usage } = answer;
    say({ type: "assistant", turn, text, refusal, toolCalls, finish, usage });
    if (refusal !== null || finish === "content_filter") return "refusal";
    if (finish === "length") return "length";
    if (toolCalls.length === 0) return text.trim() === "" ? "empty" : "finished";
    for (const call of toolCalls) {
      const began = process.hrtime.bigint();
      const outcome = await carryOut(call, config, mcp);
      const micros = Number((process.hrtime.bigint() - began) / 1000n);
      say({ type: "tool-result", turn, id: call.id, name: call.name, ...outcome, micros });
      messages.push({ role: "tool", tool_call_id: call.id, content: outcome.text });
    }
  }
  return "turns";
}

/** A call that makes no sense is answered to the model, which may do better next time. */
async function carryOut(call: ToolCall, config: ToolloopConfig, mcp: McpTools | null): Promise<ToolOutcome> {
  let given: ExactJson;
  try {
    given =
      call.arguments.trim() === "" ? {} : parseExactJson(call.arguments, { source: "the arguments", maxDepth: 256 });
  } catch (thrown) {
    return { text: messageOf(thrown), isError: true };
  }
  if (!isObject(given)) return { text: "the arguments are not a JSON object", isError: true };
  if (call.name === "shell") {
    const { command } = given;
    if (typeof command !== "string") return { text: 'shell needs a text "command"', isError: true };
    const { workdir, shellSeconds: seconds, shellOutputBytes: outputBytes } = config;
    return await runShell(command, { workdir, seconds, outputBytes });
  }
  const tool = mcp?.nameOf(call.name);
  if (mcp === null || tool === undefined) return { text: `there is no tool ${call.name}`, isError: true };
  return await mcp.call(tool, given as { readonly [key: string]: ExactJson });
}
