import { sanitiseToolName } from "../../base/formats/tool-naming.ts";
import { explainByTranscript } from "../explain-end.ts";
import type { ModelAgent } from "../model-agent.ts";
import { TOOL_TIMES } from "../tool-times.ts";
import { opencodeConfig } from "./config.ts";
import { readOpencodeTranscript } from "./read-transcript.ts";

/** opencode, run once over Chat Completions. */
export const OPENCODE: ModelAgent = {
  name: "opencode",
  version: "1.18.33",
  npm: { package: "opencode-ai", version: "1.18.33" },
  runtimeImage: "agent-opencode",
  runtime: "/opt/agent",
  apis: ["chat"],
  reasoningEfforts: null,
  naming: (server) => ({
    prefix: `${sanitiseToolName(server)}_`,
    sanitise: true,
    // Some models are given `apply_patch` in place of `edit` and `write`.
    own: ["apply_patch", "bash", "edit", "glob", "grep", "read", "todowrite", "write"],
    // The server's resources are part of what the treatment gives; without a server that has some, the three are not there.
    withServer: ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"],
  }),
  callIdMeta: null,
  untold: [],
  shellCall: (command) => ({ name: "bash", arguments: { command, description: "a command" } }),
  openingTurns: 0,
  volatile: { drop: [], replace: [...TOOL_TIMES, { pattern: "Today's date: .*", with: "Today's date" }] },
  ambient: {
    home: [".config/opencode", ".opencode", ".claude", ".agents"],
    project: [
      "opencode.json",
      "opencode.jsonc",
      ".opencode",
      "AGENTS.md",
      "CLAUDE.md",
      "CONTEXT.md",
      ".claude",
      ".agents",
    ],
    system: ["/etc/opencode"],
    masked: [],
  },
  launch: (context) => {
    const { home, runtime, instruction } = context;
    const config = `${home}/opencode.json`;
    const prompt = `${home}/instruction.md`;
    return {
      files: [
        { path: config, content: opencodeConfig(context) },
        { path: prompt, content: instruction },
      ],
      // A title of its own would cost a model request that offers no tools.
      argv: [`${runtime}/bin/run`, prompt, "--format=json", "--title=trial", "--agent=build", "--thinking"],
      env: {
        HOME: home,
        OPENCODE_CONFIG: config,
        // Empty and read-only: opencode looks for settings there, and would fetch packages into a folder that it can write to.
        XDG_CONFIG_HOME: `${runtime}/config`,
        XDG_CACHE_HOME: `${home}/.cache`,
        XDG_DATA_HOME: `${home}/.local/share`,
        XDG_STATE_HOME: `${home}/.local/state`,
        // Takes the place of /etc/opencode, which overrides everything else.
        OPENCODE_TEST_MANAGED_CONFIG_DIR: `${home}/none`,
        ...Object.fromEntries(SWITCHES.map((name) => [name, "1"])),
      },
    };
  },
  readTranscript: readOpencodeTranscript,
  explainEnd: explainByTranscript,
};

const SWITCHES = [
  "OPENCODE_DISABLE_AUTOUPDATE",
  "OPENCODE_DISABLE_CLAUDE_CODE",
  "OPENCODE_DISABLE_DEFAULT_PLUGINS",
  "OPENCODE_DISABLE_EMBEDDED_WEB_UI",
  "OPENCODE_DISABLE_EXTERNAL_SKILLS",
  "OPENCODE_DISABLE_LSP_DOWNLOAD",
  "OPENCODE_DISABLE_MODELS_FETCH",
  "OPENCODE_DISABLE_PROJECT_CONFIG",
  "OPENCODE_DISABLE_SHARE",
  "OPENCODE_DISABLE_TERMINAL_TITLE",
  "OPENCODE_PURE",
];
