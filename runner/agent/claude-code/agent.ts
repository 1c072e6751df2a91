import { sanitiseToolName } from "../../base/formats/tool-naming.ts";
import { explainByTranscript } from "../explain-end.ts";
import type { ModelAgent } from "../model-agent.ts";
import { withStdin } from "../stdin-file.ts";
import { TOOL_TIMES } from "../tool-times.ts";
import { readClaudeTranscript } from "./read-transcript.ts";

/** The tools of Claude Code's own that it is given; its others need a network, a person or other agents. */
const OWN = ["Bash", "Edit", "Read", "Write"];
/** Milliseconds that no call takes: the study's own limits end a trial. */
const A_DAY_MS = 86_400_000;

/** Anthropic's Claude Code, run once in print mode over Messages. */
export const CLAUDE_CODE: ModelAgent = {
  name: "claude-code",
  version: "2.1.332",
  npm: { package: "@anthropic-ai/claude-code", version: "2.1.332" },
  runtimeImage: "agent-claude-code",
  runtime: "/opt/agent",
  apis: ["messages"],
  reasoningEfforts: ["low", "medium", "high", "xhigh", "max"],
  naming: (server) => ({ prefix: `mcp__${sanitiseToolName(server)}__`, sanitise: true, own: OWN }),
  callIdMeta: "claudecode/toolUseId",
  untold: [],
  shellCall: (command) => ({ name: "Bash", arguments: { command, description: "a command" } }),
  openingTurns: 0,
  volatile: {
    drop: ["/metadata"],
    replace: [
      ...TOOL_TIMES,
      { pattern: "cc_version=[^;]*", with: "cc_version" },
      { pattern: "OS Version: .*", with: "OS Version" },
      { pattern: "Today's date is [0-9/-]+", with: "Today's date" },
      { pattern: "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", with: "an id" },
    ],
  },
  ambient: {
    home: [".claude", ".claude.json"],
    project: [".claude", ".mcp.json", "CLAUDE.md", "CLAUDE.local.md", "AGENTS.md"],
    system: ["/etc/claude-code"],
    masked: ["/etc/claude-code"],
  },
  launch: ({ home, runtime, instruction, modelId, reasoningEffort, gatewayUrl, mcp }) => {
    const prompt = `${home}/instruction.md`;
    const servers = `${home}/mcp.json`;
    const server = mcp === null ? null : sanitiseToolName(mcp.name);
    const mcpServers = server === null ? {} : { [server]: { type: "http", url: `${gatewayUrl}/mcp` } };
    return {
      files: [
        { path: servers, content: JSON.stringify({ mcpServers }) },
        { path: prompt, content: instruction },
      ],
      argv: withStdin(prompt, [
        `${runtime}/bin/claude`,
        "--print",
        "--output-format=stream-json",
        "--verbose",
        `--model=${modelId}`,
        ...(reasoningEffort === null ? [] : [`--effort=${reasoningEffort}`]),
        `--mcp-config=${servers}`,
        "--strict-mcp-config",
        "--setting-sources=",
        "--disable-slash-commands",
        "--no-session-persistence",
        // Works for every user of an image; skipping permissions is refused to root.
        "--permission-mode=dontAsk",
        `--tools=${OWN.join(",")}`,
        `--allowedTools=${[...OWN, ...(server === null ? [] : [`mcp__${server}`])].join(",")}`,
      ]),
      env: {
        HOME: home,
        CLAUDE_CONFIG_DIR: `${home}/claude`,
        ANTHROPIC_BASE_URL: gatewayUrl,
        // The program wants one; the provider's key is the gateway's.
        ANTHROPIC_API_KEY: "gateway",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        CLAUDE_CODE_MAX_RETRIES: "0",
        ENABLE_TOOL_SEARCH: "false",
        MCP_TIMEOUT: "120000",
        MCP_TOOL_TIMEOUT: String(A_DAY_MS),
        API_TIMEOUT_MS: String(A_DAY_MS),
      },
    };
  },
  readTranscript: readClaudeTranscript,
  explainEnd: explainByTranscript,
};
