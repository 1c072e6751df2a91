import { readFileSync, rmSync } from "node:fs";
import { type Digest, digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type Cassette, cassetteSchema } from "../base/formats/cassette.ts";
import { type GatewayConfig, gatewayConfigSchema } from "../base/formats/gateway-config.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { fittingConversations } from "./replay/choose-conversation.ts";
import { makeNormalise } from "./replay/normalise.ts";

export interface LoadedConfig {
  readonly config: GatewayConfig;
  readonly cassette: { readonly value: Cassette; readonly digest: Digest } | null;
}

/** Reads the config file, and the cassette where the config asks for one; everything that could fail later for want of sense fails here. The config file is removed. */
export function loadConfig(paths: { readonly config: string; readonly cassette: string }): LoadedConfig {
  const config = parseInput<GatewayConfig>(gatewayConfigSchema, readJson(paths.config), paths.config);
  // It may hold the provider's key, and is not needed again.
  rmSync(paths.config, { force: true });
  return { config, cassette: config.replay ? loadCassette(paths.cassette, config) : null };
}

function loadCassette(path: string, config: GatewayConfig): LoadedConfig["cassette"] {
  const bytes = readBytes(path);
  const value = parseInput<Cassette>(cassetteSchema, parseStrictJson(bytes, { source: path, maxDepth: 256 }), path);
  checkExpressions(value, path);
  if (fittingConversations(value, config.scope).length === 0) {
    const { task, condition, repetition } = config.scope;
    throw new RunnerError(
      "input",
      "CASSETTE_SCOPE",
      `${path}: no conversation for ${task}, ${condition}, repetition ${repetition}`,
      {
        hint: "Add a conversation with this scope, or leave the task out of the replay.",
      },
    );
  }
  return { value, digest: digestBytes(bytes) };
}

function checkExpressions(cassette: Cassette, path: string): void {
  try {
    makeNormalise(cassette.normalizers);
    for (const { exchanges } of cassette.conversations) {
      for (const { match } of exchanges) {
        if ("expect" in match) for (const { matches } of match.expect) new RegExp(matches ?? "", "u");
      }
    }
  } catch (thrown) {
    throw new RunnerError(
      "input",
      "CASSETTE_EXPRESSION",
      `${path}: ${thrown instanceof Error ? thrown.message : thrown}`,
    );
  }
}

function readJson(path: string): unknown {
  return parseStrictJson(readBytes(path), { source: path });
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new RunnerError("input", "CONFIG_FILE", `${path} cannot be read`, { cause });
  }
}
