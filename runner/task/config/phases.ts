import type { CollectHook, EnvTemplates, NetworkPolicy } from "../model.ts";
import { readCollectHooks } from "./artifacts.ts";
import { type EnvironmentSettings, readEnvironment } from "./environment.ts";
import { readPhaseNetwork } from "./network.ts";
import type { TableReader } from "./table.ts";
import { readDuration, readOptionalLimit, readUser } from "./values.ts";

/** `[agent]` as written; null stands for an absent key. */
export interface AgentSettings {
  readonly timeoutMicros: number | null;
  readonly user: string | null;
  readonly network: NetworkPolicy | null;
}

/** `[verifier]` as written; null stands for an absent key. */
export interface VerifierSettings {
  readonly timeoutMicros: number | null;
  readonly user: string | null;
  readonly network: NetworkPolicy | null;
  readonly env: EnvTemplates;
  readonly mode: "shared" | "separate" | null;
  readonly environment: EnvironmentSettings | null;
  readonly collect: readonly CollectHook[];
}

/** Reads an `agent` table of the task or of a step; an absent one reads as empty. */
export function readAgent(parent: TableReader): AgentSettings {
  const table = parent.table("agent");
  if (table === null) return { timeoutMicros: null, user: null, network: null };
  const settings = {
    timeoutMicros: readOptionalLimit(table, "timeout_sec"),
    user: readUser(table),
    network: readPhaseNetwork(table),
  };
  table.finish();
  return settings;
}

/** Reads a `verifier` table of the task or of a step; an absent one reads as empty. */
export function readVerifier(parent: TableReader): VerifierSettings {
  const table = parent.table("verifier");
  if (table === null) {
    return { timeoutMicros: null, user: null, network: null, env: {}, mode: null, environment: null, collect: [] };
  }
  const environmentTable = table.table("environment");
  const settings: VerifierSettings = {
    timeoutMicros: table.has("timeout_sec") ? readDuration(table, "timeout_sec", 600, "positive") : null,
    env: table.stringMap("env"),
    user: readUser(table),
    network: readPhaseNetwork(table),
    mode: table.oneOf("environment_mode", ["shared", "separate"]),
    environment: environmentTable === null ? null : readEnvironment(environmentTable),
    collect: readCollectHooks(table),
  };
  if (settings.mode === "shared" && settings.environment !== null) {
    table.fail("environment_mode", '"shared" contradicts the environment table beside it; drop one of the two');
  }
  table.finish();
  return settings;
}
