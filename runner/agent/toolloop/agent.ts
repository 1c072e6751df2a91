import type { EndReason } from "../../base/formats/transcript.ts";
import { explainReason } from "../explain-end.ts";
import type { EndEvidence, ExitMeaning, LaunchContext, ModelAgent } from "../model-agent.ts";
import { TOOL_TIMES } from "../tool-times.ts";
import { TOOLLOOP_EXIT, TOOLLOOP_NAMING, type ToolloopConfigInput } from "./config.ts";
import { readToolloopTranscript } from "./read-transcript.ts";

/** The reference agent: a small tool-calling loop over Chat Completions with a shell, and the condition's MCP tools. */
export const TOOLLOOP: ModelAgent = {
  name: "toolloop",
  version: "1",
  npm: null,
  runtimeImage: "agent-toolloop",
  runtime: "/opt/agent",
  apis: ["chat"],
  reasoningEfforts: null,
  naming: () => TOOLLOOP_NAMING,
  callIdMeta: null,
  untold: [],
  shellCall: (command) => ({ name: "shell", arguments: { command } }),
  openingTurns: 0,
  volatile: { drop: [], replace: [...TOOL_TIMES] },
  // The loop reads its own config file and nothing else.
  ambient: { home: [], project: [], system: [], masked: [] },
  launch: (context) => {
    const config = `${context.home}/config.json`;
    return {
      files: [{ path: config, content: JSON.stringify(configOf(context)) }],
      argv: [`${context.runtime}/bin/node`, `${context.runtime}/toolloop.mjs`, config],
      env: { HOME: context.home },
    };
  },
  readTranscript: readToolloopTranscript,
  explainEnd,
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

const BY_EXIT = new Map<number, EndReason>(
  (["finished", "provider", "mcp", "turns", "refusal", "length", "empty", "budget"] as const).map((reason) => [
    TOOLLOOP_EXIT[reason],
    reason,
  ]),
);

/** Each end has an exit code of its own. */
function explainEnd({ exitCode }: EndEvidence): ExitMeaning {
  if (exitCode === TOOLLOOP_EXIT.rejected) return explainReason("crash", "the model's API refused the request");
  const reason = BY_EXIT.get(exitCode);
  return explainReason(reason ?? "crash", reason === undefined ? `the agent ended with exit code ${exitCode}` : null);
}
