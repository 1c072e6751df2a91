import { isUnknown } from "../../base/unknown.ts";
import { explainByTranscript } from "../explain-end.ts";
import type { EndEvidence, ExitMeaning, ModelAgent } from "../model-agent.ts";
import { withStdin } from "../stdin-file.ts";
import { TOOL_TIMES } from "../tool-times.ts";
import { codexConfig, codexServer } from "./config.ts";
import { readCodexTranscript } from "./read-transcript.ts";

/** OpenAI's Codex, run once over Responses. */
export const CODEX: ModelAgent = {
  name: "codex",
  version: "0.171.0",
  npm: { package: "@openai/codex", version: "0.171.0" },
  runtimeImage: "agent-codex",
  runtime: "/opt/agent",
  apis: ["responses"],
  reasoningEfforts: ["none", "minimal", "low", "medium", "high", "xhigh", "max"],
  naming: (server) => ({
    prefix: `mcp__${codexServer(server)}__`,
    sanitise: true,
    own: ["exec_command", "write_stdin", "apply_patch", "view_image"],
    // The server's resources are part of what the treatment gives; without a server the three are not there.
    withServer: ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"],
  }),
  callIdMeta: "callId",
  untold: ["write_stdin", "view_image"],
  shellCall: (command) => ({ name: "exec_command", arguments: { cmd: command, yield_time_ms: 30_000 } }),
  openingTurns: 0,
  volatile: {
    drop: [
      "/client_metadata",
      "/prompt_cache_key",
      "/input/*/id",
      "/input/*/internal_chat_message_metadata_passthrough",
    ],
    replace: [
      ...TOOL_TIMES,
      { pattern: "<current_date>[^<]*</current_date>", with: "<current_date/>" },
      { pattern: "Wall time: [0-9.]+ seconds", with: "Wall time: 0 seconds" },
      { pattern: "Chunk ID: [0-9a-f]+", with: "Chunk ID: 0" },
      { pattern: "session ID [0-9]+", with: "session ID 0" },
    ],
  },
  ambient: {
    home: [".codex", ".agents"],
    project: [".codex", ".agents", "AGENTS.md", "AGENTS.override.md"],
    system: ["/etc/codex"],
    masked: ["/etc/codex"],
  },
  launch: (context) => {
    const prompt = `${context.home}/instruction.md`;
    return {
      files: [
        { path: `${context.home}/config.toml`, content: codexConfig(context) },
        { path: prompt, content: context.instruction },
      ],
      argv: withStdin(prompt, [
        `${context.runtime}/bin/codex`,
        "exec",
        "--json",
        "--strict-config",
        "--ephemeral",
        "--ignore-rules",
        "--skip-git-repo-check",
        "-",
      ]),
      env: { HOME: context.home, CODEX_HOME: context.home },
    };
  },
  readTranscript: readCodexTranscript,
  explainEnd,
};

/** A required server that cannot be used ends Codex before its transcript begins; only its standard error says so. */
function explainEnd(evidence: EndEvidence): ExitMeaning {
  const { exitCode, transcript, lastWords } = evidence;
  const silent = !isUnknown(transcript) && isUnknown(transcript.end);
  if (exitCode !== 0 && silent && /required MCP servers? failed to initialize/.test(lastWords))
    return { kind: "condition", detail: "Codex could not initialise the MCP server" };
  return explainByTranscript(evidence);
}
