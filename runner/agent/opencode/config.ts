import type { LaunchContext } from "../model-agent.ts";

/** What a model is taken to hold and to answer at most, in tokens: opencode wants both, and studies name neither. */
const LIMIT = { context: 200_000, output: 16_384 };
/** The longest delay that a timer can have: calls end when the trial does. */
const NO_LIMIT_MS = 2 ** 31 - 1;

/**
 * Tools that are taken away: other agents and skills, whose requests would offer other tools than the condition's, and those that want a
 * network or a person.
 */
const DENIED = ["task", "skill", "webfetch", "websearch", "question"];

/** opencode's whole configuration: one provider and one model at the gateway, and the treatment's server. */
export function opencodeConfig({ modelId, reasoningEffort, gatewayUrl, mcp }: LaunchContext): string {
  const model = `gateway/${modelId}`;
  return JSON.stringify({
    model,
    small_model: model,
    autoupdate: false,
    share: "disabled",
    snapshot: false,
    lsp: false,
    formatter: false,
    instructions: [],
    plugin: [],
    permission: { "*": "allow", ...Object.fromEntries(DENIED.map((tool) => [tool, "deny"])) },
    enabled_providers: ["gateway"],
    provider: {
      gateway: {
        npm: "@ai-sdk/openai-compatible",
        name: "gateway",
        // The program wants a key; the provider's is the gateway's.
        options: { baseURL: `${gatewayUrl}/v1`, apiKey: "gateway", timeout: false },
        models: {
          [modelId]: {
            name: modelId,
            tool_call: true,
            ...(reasoningEffort === null ? {} : { reasoning: true, options: { reasoningEffort } }),
            limit: LIMIT,
          },
        },
      },
    },
    mcp:
      mcp === null
        ? {}
        : {
            [mcp.name]: { type: "remote", url: `${gatewayUrl}/mcp`, oauth: false, enabled: true, timeout: NO_LIMIT_MS },
          },
  });
}
