import { expect, test } from "vitest";
import type { LaunchContext } from "../../../../runner/agent/model-agent.ts";
import { QWEN_CODER } from "../../../../runner/agent/qwen-coder/agent.ts";

const CONTEXT: LaunchContext = {
  instruction: "/app/answer.txt must hold 42.\n",
  modelId: "model-1",
  reasoningEffort: "high",
  gatewayUrl: "http://gateway:8080",
  mcp: { name: "math" },
  modelRequests: 10,
  home: "/home",
  runtime: "/opt/agent",
  workdir: "/app",
};

const SETTINGS = {
  $version: 4,
  mcpServers: { math: { httpUrl: "http://gateway:8080/mcp", trust: true, timeout: 2_147_483_647 } },
  mcp: { allowed: ["math"] },
  model: {
    name: "model-1",
    skipStartupContext: true,
    generationConfig: { timeout: 2_147_483_647, maxRetries: 0, extra_body: { reasoning_effort: "high" } },
  },
  tools: {
    exclude: [
      "agent",
      "ask_user_question",
      "exit_plan_mode",
      "monitor",
      "send_message",
      "skill",
      "task_stop",
      "tool_search",
      "web_fetch",
    ],
    approvalMode: "yolo",
    shell: { enableInteractiveShell: false },
  },
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
};

test("the treatment's launch holds the instruction as it is, settings that override all others, and one server", () => {
  const { files, ...launch } = QWEN_CODER.launch(CONTEXT);
  expect(launch).toEqual({
    argv: [
      "/opt/agent/bin/run",
      "/home/instruction.md",
      "--output-format=stream-json",
      "--auth-type=openai",
      "--approval-mode=yolo",
    ],
    env: {
      HOME: "/home",
      QWEN_HOME: "/home/qwen",
      QWEN_CODE_SYSTEM_SETTINGS_PATH: "/home/settings.json",
      QWEN_CODE_SYSTEM_DEFAULTS_PATH: "/home/none",
      QWEN_CODE_TRUSTED_FOLDERS_PATH: "/home/none",
      QWEN_CODE_NO_RELAUNCH: "1",
      OPENAI_BASE_URL: "http://gateway:8080/v1",
      OPENAI_MODEL: "model-1",
      OPENAI_API_KEY: "gateway",
    },
  });
  expect(files.map(({ path }) => path)).toEqual(["/home/settings.json", "/home/instruction.md"]);
  expect(files[1]?.content).toBe(CONTEXT.instruction);
  expect(JSON.parse(files[0]?.content ?? "")).toEqual(SETTINGS);
});

test("control differs from the treatment by the server alone, and without an effort none is asked for", () => {
  const control = QWEN_CODER.launch({ ...CONTEXT, mcp: null });
  expect(JSON.parse(control.files[0]?.content ?? "")).toEqual({
    ...SETTINGS,
    mcpServers: {},
    mcp: { allowed: ["none"] },
  });
  const { files, ...rest } = QWEN_CODER.launch(CONTEXT);
  expect({ argv: control.argv, env: control.env }).toEqual(rest);
  const plain = JSON.parse(QWEN_CODER.launch({ ...CONTEXT, reasoningEffort: null }).files[0]?.content ?? "");
  expect(plain.model.generationConfig).toEqual({ timeout: 2_147_483_647, maxRetries: 0 });
});
