import { stringify } from "smol-toml";
import type { LaunchContext } from "../model-agent.ts";

/** Seconds that no call takes: the study's own limits end a trial. */
const A_DAY = 86_400;

/** Codex's name for a server: it shows every other character than letters, digits and `_` as `_`. */
export function codexServer(server: string): string {
  return server.replace(/[^A-Za-z0-9_]/g, "_");
}

/**
 * Codex's whole configuration. It gives the model nothing but a shell, patches and pictures of its own: no other agents, apps, goals,
 * plugins, skills, hooks, search or code mode, and no file of the working directory as an instruction.
 */
export function codexConfig(context: LaunchContext): string {
  const { modelId, reasoningEffort, gatewayUrl, mcp, runtime } = context;
  return stringify({
    model: modelId,
    model_provider: "gateway",
    // The release's own model list, made into one way of working for every model (images/agent-codex/catalog.py).
    model_catalog_json: `${runtime}/models.json`,
    ...(reasoningEffort === null ? {} : { model_reasoning_effort: reasoningEffort }),
    approval_policy: "never",
    // The container is the sandbox.
    sandbox_mode: "danger-full-access",
    web_search: "disabled",
    check_for_update_on_startup: false,
    project_doc_max_bytes: 0,
    include_apps_instructions: false,
    include_collaboration_mode_instructions: false,
    history: { persistence: "none" },
    tools: { web_search: false, experimental_request_user_input: { enabled: false } },
    skills: { include_instructions: false, bundled: { enabled: false } },
    agents: { enabled: false },
    model_providers: {
      gateway: {
        name: "gateway",
        base_url: `${gatewayUrl}/v1`,
        wire_api: "responses",
        request_max_retries: 0,
        stream_max_retries: 0,
        stream_idle_timeout_ms: A_DAY * 1000,
        supports_websockets: false,
      },
    },
    ...(mcp === null
      ? {}
      : {
          mcp_servers: {
            [codexServer(mcp.name)]: {
              url: `${gatewayUrl}/mcp`,
              required: true,
              startup_timeout_sec: 120,
              tool_timeout_sec: A_DAY,
            },
          },
        }),
    features: {
      apps: false,
      goals: false,
      hooks: false,
      image_generation: false,
      plugins: false,
      shell_snapshot: false,
      skill_search: false,
      sleep_tool: false,
      tool_suggest: false,
      unbounded_connection_retries: false,
    },
    analytics: { enabled: false },
  });
}
