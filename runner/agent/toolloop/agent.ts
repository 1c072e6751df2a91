import type { ExitMeaning, LaunchContext, ModelAgent } from "../model-agent.ts";
import { TOOLLOOP_EXIT, TOOLLOOP_NAMING, type ToolloopConfigInput } from "./config.ts";

/** The reference agent: a small tool-calling loop over Chat Completions with a shell, and the condition's MCP tools. */
export const TOOLLOOP: ModelAgent = {
  name: "toolloop",
  version: "1",
  runtimeImage: "agent-toolloop",
  runtime: "/opt/agent",
  apis: ["chat"],
  naming: TOOLLOOP_NAMING,
  launch: (context) => {
    const config = `${context.home}/config.json`;
    return {
      files: [{ path: config, content: JSON.stringify(configOf(context)) }],
      argv: [`${context.runtime}/bin/node`, `${context.runtime}/toolloop.mjs`, config],
      env: { HOME: context.home },
    };
  },
  explainExit,
};

function configOf(context: LaunchContext): ToolloopConfigInput {
  return {
    schemaVersion: "1",
    instruction: context.instruction,
    model: context.modelId,
    baseUrl: `${context.gatewayUrl}/v1`,
    mcpUrl: context.mcp === null ? null : `${context.gatewayUrl}/mcp`,
    workdir: context.workdir,
    // One more than the budget, so that the budget's own refusal is what ends a run that reaches it.
    maxTurns: Math.min(context.modelRequests + 1, Number.MAX_SAFE_INTEGER),
    reasoningEffort: context.reasoningEffort,
  };
}

function explainExit(exitCode: number): ExitMeaning {
  switch (exitCode) {
    case TOOLLOOP_EXIT.finished:
      return { kind: "self", detail: null };
    case TOOLLOOP_EXIT.provider:
      return { kind: "provider", detail: "the agent could not get an answer from the model" };
    case TOOLLOOP_EXIT.mcp:
      return { kind: "condition", detail: "the agent could not reach the MCP server" };
    case TOOLLOOP_EXIT.turns:
      return { kind: "self", detail: "the agent reached its limit of turns" };
    case TOOLLOOP_EXIT.refusal:
      return { kind: "self", detail: "the model declined" };
    case TOOLLOOP_EXIT.length:
      return { kind: "self", detail: "the model's answer reached its length limit" };
    case TOOLLOOP_EXIT.empty:
      return { kind: "self", detail: "the model's answer was empty" };
    case TOOLLOOP_EXIT.budget:
      return { kind: "self", detail: "a budget was exhausted" };
    default:
      return { kind: "crash", detail: `the agent ended with exit code ${exitCode}` };
  }
}
