import { readFile } from "node:fs/promises";
import { z } from "zod";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Role } from "./terms.ts";

/** Prices of an endpoint in micro-dollars per million tokens. */
export interface Prices {
  readonly input: number;
  /** Price of input tokens that the provider served from its cache; without it they cost as much as others. */
  readonly cached_input?: number | undefined;
  readonly output: number;
}

/** One section of the config: an endpoint and how to ask it. */
export interface Endpoint {
  readonly backend: "api";
  readonly model: string;
  readonly base_url: string;
  /** Name of the environment variable that holds the key; never the key. */
  readonly api_key_env?: string | undefined;
  /** Further members of the request body. */
  readonly generation: Readonly<Record<string, unknown>>;
  /** Seconds for one attempt. */
  readonly timeout_s: number;
  /** Repetitions of one call after transient transport failures. */
  readonly max_retries: number;
  /** Seconds for which a call that meets 429 or 503 waits without using up `max_retries`. */
  readonly rate_limit_patience_s: number;
  readonly prices_micro_usd_per_mtok?: Prices | undefined;
}

export type Config = Readonly<Partial<Record<Role, Endpoint>>>;

/** Members of the request that a config may not set. */
const OWN = ["model", "messages", "stream", "stream_options", "n", "tools"];
/** Names under which keys are put, without case, hyphens and underscores. */
const SECRET_NAMES = new Set([
  "accesskey",
  "accesstoken",
  "apikey",
  "apitoken",
  "authorization",
  "authtoken",
  "bearer",
  "bearertoken",
  "clientsecret",
  "defaultheaders",
  "extraheaders",
  "headers",
  "password",
  "proxyauthorization",
  "secret",
  "secretkey",
  "token",
  "xapikey",
]);

const prices = z.strictObject({
  input: z.int().min(0),
  cached_input: z.int().min(0).optional(),
  output: z.int().min(0),
});

const endpoint = z.strictObject({
  backend: z
    .literal("api", { error: '"api" is the only backend: serve local weights behind a Chat Completions endpoint' })
    .default("api"),
  model: z.string().min(1),
  base_url: z.string().superRefine((value, context) => {
    const problem = urlProblem(value);
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  }),
  // A key put here by mistake is no variable name; the check keeps it from being looked up and from being echoed.
  api_key_env: z.string().optional(),
  generation: z
    .record(z.string(), z.unknown())
    .superRefine((value, context) => {
      for (const name of OWN) {
        if (name in value) context.addIssue({ code: "custom", message: "is set by the runner", path: [name] });
      }
      if ("max_tokens" in value && "max_completion_tokens" in value) {
        context.addIssue({ code: "custom", message: "use only one of max_tokens and max_completion_tokens" });
      }
      for (const name of ["max_tokens", "max_completion_tokens"]) {
        const count = value[name];
        if (name in value && !(typeof count === "number" && Number.isSafeInteger(count) && count > 0)) {
          context.addIssue({ code: "custom", message: "expected a positive integer", path: [name] });
        }
      }
    })
    .default({}),
  timeout_s: z.number().positive().max(86_400).default(1800),
  max_retries: z.int().min(0).max(10).default(2),
  rate_limit_patience_s: z.number().min(0).max(86_400).default(120),
  prices_micro_usd_per_mtok: prices.optional(),
});

const config = z.strictObject({
  policy: endpoint.optional(),
  verifier: endpoint.optional(),
  meta: endpoint.optional(),
});

/** The sections that a run needs. */
export function rolesOf(task: "prover" | "verifier", meta: boolean): Role[] {
  if (task === "prover") return ["policy", "verifier"];
  return meta ? ["verifier", "meta"] : ["verifier"];
}

/**
 * Reads a config and keeps the sections that the run needs. Literal keys, credentials or a query in a URL, and members of the request that
 * the runner sets are refused, without repeating the secret.
 * @throws RunnerError `CONFIG_MISSING`, `CONFIG_SECRET`, `CONFIG_ROLE`, `INPUT_INVALID` or `JSON_INVALID`.
 */
export async function readConfig(path: string, roles: readonly Role[]): Promise<Config> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "EISDIR")) throw cause;
    throw new RunnerError("input", "CONFIG_MISSING", `the config ${path} does not exist or is no file`, {
      hint: "Give the path of a JSON file with --config.",
      cause,
    });
  });
  return parseConfig(parseStrictJson(bytes, { source: path }), path, roles);
}

/** Checks a config's value; `source` names the file in refusals. */
export function parseConfig(value: unknown, source: string, roles: readonly Role[]): Config {
  refuseSecrets(value, source, []);
  const parsed = parseInput(config, value, source);
  const kept: Partial<Record<Role, Endpoint>> = {};
  for (const role of roles) {
    const section = parsed[role];
    if (section === undefined) {
      throw new RunnerError("input", "CONFIG_ROLE", `${source}: the section "${role}" is missing`, {
        hint: `This run needs the sections ${roles.join(", ")}.`,
      });
    }
    kept[role] = section;
  }
  return kept;
}

function refuseSecrets(value: unknown, source: string, path: readonly string[]): void {
  if (Array.isArray(value)) {
    value.forEach((member, index) => {
      refuseSecrets(member, source, [...path, String(index)]);
    });
  }
  if (!isObject(value)) return;
  for (const [key, member] of Object.entries(value)) {
    const place = [...path, key];
    if (SECRET_NAMES.has(key.toLowerCase().replaceAll(/[-_]/g, "")))
      throw secret(source, place, "keys and headers do not belong in a config");
    if (key === "api_key_env" && (typeof member !== "string" || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(member))) {
      throw secret(
        source,
        place,
        "expected the name of an environment variable, got something else (not repeated here)",
      );
    }
    if (key === "base_url" && typeof member === "string" && hidesSecret(member)) {
      throw secret(source, place, "expected a URL without credentials, query and fragment (not repeated here)");
    }
    // What is no URL at all may be a key in the wrong place.
    if (key === "base_url" && typeof member === "string" && !URL.canParse(member)) {
      throw secret(source, place, "expected an absolute URL, got something else (not repeated here)");
    }
    refuseSecrets(member, source, place);
  }
}

function secret(source: string, place: readonly string[], problem: string): RunnerError {
  return new RunnerError("input", "CONFIG_SECRET", `${source}: ${place.join(".")}: ${problem}`, {
    hint: 'Put the key into an environment variable and its name into "api_key_env".',
  });
}

/** Asked of the parsed URL too: it finds a user also behind one, three or backward slashes. */
function hidesSecret(text: string): boolean {
  if (/[?#]/.test(text) || /^[^/]*\/\/[^/]*@/.test(text)) return true;
  if (!URL.canParse(text)) return false;
  const { username, password } = new URL(text);
  return username !== "" || password !== "";
}

function urlProblem(text: string): string | null {
  if (!URL.canParse(text)) return null;
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "expected an http or https URL";
  return /\/(v1|chat\/completions)\/*$/.test(url.pathname)
    ? null
    : "expected a URL that ends in /v1 or in the full path /chat/completions";
}

/** Where an endpoint's calls go. */
export function completionsUrl(spec: Endpoint): URL {
  const base = spec.base_url.replace(/\/+$/, "");
  return new URL(base.endsWith("/chat/completions") ? base : `${base}/chat/completions`);
}

/** The keys of a run by role, from the environment. @throws RunnerError `KEY_MISSING` naming the variable. */
export function readKeys(kept: Config, env: Readonly<Record<string, string | undefined>>): Map<Role, string> {
  const keys = new Map<Role, string>();
  for (const [role, spec] of Object.entries(kept) as [Role, Endpoint][]) {
    if (spec.api_key_env === undefined) continue;
    const key = env[spec.api_key_env];
    if (key === undefined || key === "") {
      throw new RunnerError("environment", "KEY_MISSING", `the environment variable ${spec.api_key_env} is not set`, {
        hint: `Set it to the key of the "${role}" endpoint, or remove "api_key_env" for an endpoint without keys.`,
      });
    }
    if (!/^[\x21-\x7e]+$/.test(key)) {
      throw new RunnerError(
        "environment",
        "KEY_MALFORMED",
        `the value of ${spec.api_key_env} cannot be sent in a header`,
        {
          hint: "It may only have printable ASCII characters and no space: look for a line end at its end.",
        },
      );
    }
    keys.set(role, key);
  }
  return keys;
}
