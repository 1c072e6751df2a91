import { explainByTranscript } from "../explain-end.ts";
import type { ModelAgent } from "../model-agent.ts";
import { TOOL_TIMES } from "../tool-times.ts";
import { readQwenTranscript } from "./read-transcript.ts";
import { qwenSettings } from "./settings.ts";

/** Qwen Code, run once over Chat Completions. Its MCP tools keep the dots in their names. */
export const QWEN_CODER: ModelAgent = {
  name: "qwen-coder",
  version: "0.15.10",
  npm: { package: "@qwen-code/qwen-code", version: "0.15.10" },
  runtimeImage: "agent-qwen-coder",
  runtime: "/opt/agent",
  apis: ["chat"],
  reasoningEfforts: null,
  naming: (server) => ({
    prefix: `mcp__${server}__`,
    sanitise: false,
    own: [
      "edit",
      "glob",
      "grep_search",
      "list_directory",
      "read_file",
      "run_shell_command",
      "todo_write",
      "write_file",
    ],
  }),
  callIdMeta: null,
  untold: [],
  shellCall: (command) => ({ name: "run_shell_command", arguments: { command, description: "a command" } }),
  openingTurns: 0,
  volatile: { drop: [], replace: [...TOOL_TIMES, { pattern: "Today's date is .*", with: "Today's date" }] },
  ambient: {
    home: [".qwen", ".agents", ".env"],
    project: [".qwen", ".agents", ".env", "AGENTS.md", "QWEN.md"],
    system: ["/etc/qwen-code"],
    masked: [],
  },
  launch: (context) => {
    const { home, runtime, instruction, modelId, gatewayUrl } = context;
    const settings = `${home}/settings.json`;
    const prompt = `${home}/instruction.md`;
    return {
      files: [
        { path: settings, content: qwenSettings(context) },
        { path: prompt, content: instruction },
      ],
      argv: [`${runtime}/bin/run`, prompt, "--output-format=stream-json", "--auth-type=openai", "--approval-mode=yolo"],
      env: {
        HOME: home,
        QWEN_HOME: `${home}/qwen`,
        QWEN_CODE_SYSTEM_SETTINGS_PATH: settings,
        // Take the places of files below /etc/qwen-code.
        QWEN_CODE_SYSTEM_DEFAULTS_PATH: `${home}/none`,
        QWEN_CODE_TRUSTED_FOLDERS_PATH: `${home}/none`,
        // Starting itself again would lose the loader that its Node runs with.
        QWEN_CODE_NO_RELAUNCH: "1",
        OPENAI_BASE_URL: `${gatewayUrl}/v1`,
        OPENAI_MODEL: modelId,
        // The program wants one; the provider's key is the gateway's.
        OPENAI_API_KEY: "gateway",
      },
    };
  },
  readTranscript: readQwenTranscript,
  explainEnd: explainByTranscript,
};
