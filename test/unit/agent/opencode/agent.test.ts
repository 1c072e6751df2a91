import { expect, test } from "vitest";
import type { LaunchContext } from "../../../../runner/agent/model-agent.ts";
import { OPENCODE } from "../../../../runner/agent/opencode/agent.ts";

const CONTEXT: LaunchContext = {
  instruction: '/app/answer.txt must hold "42".\n',
  modelId: "model-1",
  reasoningEffort: "high",
  gatewayUrl: "http://gateway:8080",
  mcp: { name: "math.server" },
  modelRequests: 10,
  home: "/home",
  runtime: "/opt/agent",
  workdir: "/app",
};

const SWITCHES = {
  OPENCODE_DISABLE_AUTOUPDATE: "1",
  OPENCODE_DISABLE_CLAUDE_CODE: "1",
  OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  OPENCODE_DISABLE_EMBEDDED_WEB_UI: "1",
  OPENCODE_DISABLE_EXTERNAL_SKILLS: "1",
  OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
  OPENCODE_DISABLE_MODELS_FETCH: "1",
  OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  OPENCODE_DISABLE_SHARE: "1",
  OPENCODE_DISABLE_TERMINAL_TITLE: "1",
  OPENCODE_PURE: "1",
};

const CONFIG = {
  model: "gateway/model-1",
  small_model: "gateway/model-1",
  autoupdate: false,
  share: "disabled",
  snapshot: false,
  lsp: false,
  formatter: false,
  instructions: [],
  plugin: [],
  permission: { "*": "allow", task: "deny", skill: "deny", webfetch: "deny", websearch: "deny", question: "deny" },
  enabled_providers: ["gateway"],
  provider: {
    gateway: {
      npm: "@ai-sdk/openai-compatible",
      name: "gateway",
      options: { baseURL: "http://gateway:8080/v1", apiKey: "gateway", timeout: false },
      models: {
        "model-1": {
          name: "model-1",
          tool_call: true,
          reasoning: true,
          options: { reasoningEffort: "high" },
          limit: { context: 200_000, output: 16_384 },
        },
      },
    },
  },
  mcp: {
    "math.server": {
      type: "remote",
      url: "http://gateway:8080/mcp",
      oauth: false,
      enabled: true,
      timeout: 2_147_483_647,
    },
  },
};

test("the treatment's launch holds the instruction as it is, one provider, one server and nothing of the task's", () => {
  const { files, ...launch } = OPENCODE.launch(CONTEXT);
  expect(launch).toEqual({
    argv: [
      "/opt/agent/bin/run",
      "/home/instruction.md",
      "--format=json",
      "--title=trial",
      "--agent=build",
      "--thinking",
    ],
    env: {
      HOME: "/home",
      OPENCODE_CONFIG: "/home/opencode.json",
      XDG_CONFIG_HOME: "/opt/agent/config",
      XDG_CACHE_HOME: "/home/.cache",
      XDG_DATA_HOME: "/home/.local/share",
      XDG_STATE_HOME: "/home/.local/state",
      OPENCODE_TEST_MANAGED_CONFIG_DIR: "/home/none",
      ...SWITCHES,
    },
  });
  expect(files.map(({ path }) => path)).toEqual(["/home/opencode.json", "/home/instruction.md"]);
  expect(files[1]?.content).toBe(CONTEXT.instruction);
  expect(JSON.parse(files[0]?.content ?? "")).toEqual(CONFIG);
});

test("control differs from the treatment by the server alone, and without an effort none is asked for", () => {
  const control = OPENCODE.launch({ ...CONTEXT, mcp: null });
  expect(JSON.parse(control.files[0]?.content ?? "")).toEqual({ ...CONFIG, mcp: {} });
  const { files, ...rest } = OPENCODE.launch(CONTEXT);
  expect({ argv: control.argv, env: control.env }).toEqual(rest);
  const plain = JSON.parse(OPENCODE.launch({ ...CONTEXT, reasoningEffort: null }).files[0]?.content ?? "");
  expect(plain.provider.gateway.models["model-1"]).toEqual({
    name: "model-1",
    tool_call: true,
    limit: { context: 200_000, output: 16_384 },
  });
});

test("the server's tools are shown under its sanitised name", () => {
  expect(OPENCODE.naming("math.server").prefix).toBe("math_server_");
});
