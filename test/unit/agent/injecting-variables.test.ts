import { expect, test } from "vitest";
import { injectingVariables } from "../../../runner/agent/injecting-variables.ts";

test("variables that load code, settings or credentials into an agent are named, once and sorted", () => {
  expect(
    injectingVariables([
      "NODE_OPTIONS=--require /app/x.js",
      "LD_PRELOAD=/app/x.so",
      "PYTHONPATH=/app",
      "BASH_ENV=/app/rc",
      "HTTPS_PROXY=http://10.0.0.1",
      "https_proxy=http://10.0.0.1",
      "ANTHROPIC_BASE_URL=http://10.0.0.1",
      "OPENCODE_CONFIG_CONTENT={}",
      "XDG_CONFIG_HOME=/app",
      "SOME_API_KEY=sk",
      "NODE_OPTIONS=twice",
    ]),
  ).toEqual([
    "ANTHROPIC_BASE_URL",
    "BASH_ENV",
    "HTTPS_PROXY",
    "LD_PRELOAD",
    "NODE_OPTIONS",
    "OPENCODE_CONFIG_CONTENT",
    "PYTHONPATH",
    "SOME_API_KEY",
    "XDG_CONFIG_HOME",
    "https_proxy",
  ]);
});

test("an agent's settings that do not bear its name are settings all the same", () => {
  const settings = [
    "BASH_MAX_TIMEOUT_MS=1000",
    "DISABLE_PROMPT_CACHING=1",
    "ENABLE_TOOL_SEARCH=true",
    "MAX_MCP_OUTPUT_TOKENS=10",
    "MAX_THINKING_TOKENS=0",
    "OTEL_EXPORTER_OTLP_ENDPOINT=http://10.0.0.1",
    "USE_BUILTIN_RIPGREP=0",
  ];
  expect(injectingVariables(settings)).toEqual(settings.map((line) => line.split("=")[0]));
});

test("what a task's own programs need stays", () => {
  expect(
    injectingVariables(["PATH=/usr/bin:/bin", "HOME=/srv", "LANG=C.UTF-8", "MAX_N=5", "BASH_VERSION=5", "DATA=/d"]),
  ).toEqual([]);
});
