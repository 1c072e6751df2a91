import { RunnerError } from "../base/errors.ts";
import type { EnvTemplates } from "./model.ts";

const TEMPLATE = /^\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}$/s;
const PROVIDER =
  /^(?:OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|AZURE|AWS|MISTRAL|GROQ|DEEPSEEK|OPENROUTER|XAI|TOGETHER|FIREWORKS|COHERE|DASHSCOPE|QWEN|MOONSHOT|CEREBRAS|NVIDIA|VERTEX|BEDROCK|LITELLM)_.*(?:KEY|TOKEN|SECRET|CREDENTIALS)/i;
const ANY_API_KEY = /(?:^|_)API_?(?:KEY|TOKEN)S?$/i;

export interface ResolveEnvOptions {
  /** Names that the operator allows tasks to read from the host. */
  readonly allow: ReadonlySet<string>;
  /** The host's variables. */
  readonly host: Readonly<Record<string, string | undefined>>;
  /** Names of the study's own keys, never given to a task. */
  readonly forbidden?: ReadonlySet<string>;
}

export interface ResolvedEnv {
  readonly env: Readonly<Record<string, string>>;
  /** Host variables that were read, sorted; their values are secrets of the run as far as redaction goes. */
  readonly fromHost: readonly string[];
  /** Templates that fell back on their default, sorted by host variable. */
  readonly defaulted: readonly string[];
}

/**
 * Resolves `${VAR}` and `${VAR:-default}`. Only a whole value is a template; anything else, substrings included, is literal. Only allowed
 * names are read from the host; a provider's key never is, not even when allowed. A variable that is unset, empty or not to be read takes
 * the default, where there is one.
 * @throws RunnerError `ENV_UNRESOLVED` naming every variable that cannot be had, and why.
 */
export function resolveEnv(templates: EnvTemplates, options: ResolveEnvOptions): ResolvedEnv {
  const env: [string, string][] = [];
  const fromHost = new Set<string>();
  const defaulted = new Set<string>();
  const problems: string[] = [];
  for (const [name, template] of Object.entries(templates)) {
    const match = TEMPLATE.exec(template);
    if (match === null) {
      env.push([name, template]);
      continue;
    }
    const variable = match[1] ?? "";
    const fallback = match[2];
    const refused = isStudyKey(variable, options.forbidden);
    const value = options.allow.has(variable) && !refused ? options.host[variable] : undefined;
    if (value !== undefined && (value !== "" || fallback === undefined)) {
      env.push([name, value]);
      fromHost.add(variable);
    } else if (fallback !== undefined) {
      env.push([name, fallback]);
      defaulted.add(variable);
    } else {
      const reason = refused
        ? "is a provider's key, which no task may have"
        : options.allow.has(variable)
          ? "is not set on this host and the template has no default"
          : "is not among the names the operator allows";
      problems.push(`${name} = ${template}: ${variable} ${reason}`);
    }
  }
  if (problems.length > 0) {
    throw new RunnerError("input", "ENV_UNRESOLVED", problems.join("; "), {
      hint: "Set and allow the named variables, or give the template a default.",
    });
  }
  return { env: Object.fromEntries(env), fromHost: [...fromHost].sort(), defaulted: [...defaulted].sort() };
}

/** True for names that are, or look like, a model provider's key. */
export function isStudyKey(name: string, forbidden: ReadonlySet<string> = new Set()): boolean {
  return forbidden.has(name) || PROVIDER.test(name) || ANY_API_KEY.test(name);
}

/** The host variables that templates name, sorted. */
export function templateVariables(templates: EnvTemplates): readonly string[] {
  const names = Object.values(templates).flatMap((template) => TEMPLATE.exec(template)?.[1] ?? []);
  return [...new Set(names)].sort();
}
