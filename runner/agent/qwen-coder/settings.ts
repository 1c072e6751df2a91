import type { LaunchContext } from "../model-agent.ts";

/** The longest delay that a timer can have: calls end when the trial does. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Tools that are taken away: other agents and skills, whose requests would offer other tools than the condition's, the search that hides
 * a server's tools until it is asked, and those that want a network, a person or a later turn.
 */
const EXCLUDED = [
  "agent",
  "ask_user_question",
  "exit_plan_mode",
  "monitor",
  "send_message",
  "skill",
  "task_stop",
  "tool_search",
  "web_fetch",
];

/** Qwen Code's system settings, which override every other: one model at the gateway, and the treatment's server. */
export function qwenSettings({ modelId, reasoningEffort, gatewayUrl, mcp }: LaunchContext): string {
  return JSON.stringify({
    $version: 4,
    mcpServers: mcp === null ? {} : { [mcp.name]: { httpUrl: `${gatewayUrl}/mcp`, trust: true, timeout: NO_LIMIT_MS } },
    // An empty list would allow every server, and the name of none is empty.
    mcp: { allowed: [mcp?.name ?? "none"] },
    model: {
      name: modelId,
      // Else a turn in the model's name, with the date and a listing, would stand before the instruction.
      skipStartupContext: true,
      generationConfig: {
        timeout: NO_LIMIT_MS,
        maxRetries: 0,
        ...(reasoningEffort === null ? {} : { extra_body: { reasoning_effort: reasoningEffort } }),
      },
    },
    tools: { exclude: EXCLUDED, approvalMode: "yolo", shell: { enableInteractiveShell: false } },
    // A name that no task has: QWEN.md and AGENTS.md are not read.
    context: { fileName: "no-context-file", includeDirectories: [], loadFromIncludeDirectories: false },
    memory: { enableManagedAutoMemory: false, enableManagedAutoDream: false, enableAutoSkill: false },
    experimental: { cron: false, emitToolUseSummaries: false },
    general: {
      enableAutoUpdate: false,
      chatRecording: false,
      checkpointing: { enabled: false },
      gitCoAuthor: { commit: false, pr: false },
    },
    privacy: { usageStatisticsEnabled: false },
    telemetry: { enabled: false },
    ide: { enabled: false },
    disableAllHooks: true,
    security: { folderTrust: { enabled: false }, auth: { selectedType: "openai" } },
  });
}
