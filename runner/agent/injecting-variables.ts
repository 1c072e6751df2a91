/** Variables that make an agent's program load code, settings or credentials that the study did not choose. */
const INJECTING: readonly RegExp[] = [
  /^LD_/,
  /^DYLD_/,
  /^GLIBC_TUNABLES$/,
  /^NODE_/,
  /^NPM_CONFIG_/i,
  /^BUN_/,
  /^DENO_/,
  /^PYTHON/,
  /^PERL5?(LIB|OPT|DB)/,
  /^RUBY(LIB|OPT)$/,
  /^JAVA_TOOL_OPTIONS$/,
  /^_JAVA_OPTIONS$/,
  /^BASH_ENV$/,
  /^BASH_FUNC_/,
  /^ENV$/,
  /^SHELLOPTS$/,
  /^PROMPT_COMMAND$/,
  /^GIT_/,
  /^SSL_CERT_/,
  /^(HTTP|HTTPS|ALL|NO|FTP)_PROXY$/i,
  /^(OPENAI|ANTHROPIC|CLAUDE|CODEX|OPENCODE|QWEN|GEMINI|GOOGLE|AZURE|AWS|MCP)_/,
  // Settings of Claude Code's that do not bear its name.
  /^(DISABLE|ENABLE|FORCE|OTEL)_/,
  /^MAX_(THINKING_TOKENS|MCP_OUTPUT_TOKENS|STRUCTURED_OUTPUT_RETRIES)$/,
  /^BASH_(DEFAULT_TIMEOUT_MS|MAX_TIMEOUT_MS|MAX_OUTPUT_LENGTH)$/,
  /^(TASK_MAX_OUTPUT_LENGTH|SLASH_COMMAND_TOOL_CHAR_BUDGET|API_TIMEOUT_MS|USE_BUILTIN_RIPGREP|IS_SANDBOX|IS_DEMO)$/,
  /^XDG_/,
  /(^|_)(API_?KEY|TOKEN|SECRET|PASSWORD|CREDENTIALS?)$/i,
];

/**
 * The names in an environment (`NAME=value` entries) that must not reach a model-driven agent. A container's environment entry that is
 * a bare name removes that variable.
 */
export function injectingVariables(environment: readonly string[]): string[] {
  const names = environment.map((entry) => entry.split("=", 1)[0] ?? "");
  return [...new Set(names.filter((name) => INJECTING.some((pattern) => pattern.test(name))))].sort();
}
