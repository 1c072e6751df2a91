import type { NetworkMode, NetworkPolicy } from "../model.ts";
import { normaliseHost } from "./allowlist.ts";
import type { TableReader } from "./table.ts";

const MODES = ["no-network", "public", "allowlist"] as const satisfies readonly NetworkMode[];

/** Reads `network_mode` and `allowed_hosts` of a phase; null when the phase states neither. */
export function readPhaseNetwork(table: TableReader): NetworkPolicy | null {
  const mode = table.oneOf("network_mode", MODES);
  const entries = table.strings("allowed_hosts");
  if (entries !== null && mode !== "allowlist") {
    table.fail(
      "allowed_hosts",
      `needs network_mode = "allowlist", which is ${mode === null ? "not set" : `"${mode}"`}`,
    );
    return null;
  }
  if (mode === null) return null;
  return { mode, allowedHosts: mode === "allowlist" ? normaliseHosts(table, entries ?? []) : [] };
}

/** Reads an environment's baseline, the deprecated `allow_internet` included. Harbor's default is `public`. */
export function readBaselineNetwork(table: TableReader): NetworkPolicy {
  const allowInternet = table.boolean("allow_internet");
  if (allowInternet !== null) {
    table.warn(
      "DEPRECATED_KEY",
      "allow_internet",
      'allow_internet is deprecated; write network_mode = "no-network" or "public"',
    );
  }
  const stated = readPhaseNetwork(table);
  if (stated !== null) return stated;
  return { mode: allowInternet === false ? "no-network" : "public", allowedHosts: [] };
}

function normaliseHosts(table: TableReader, entries: readonly string[]): readonly string[] {
  const hosts = new Set<string>();
  for (const entry of entries) {
    const result = normaliseHost(entry);
    if ("host" in result) hosts.add(result.host);
    else table.fail("allowed_hosts", `${JSON.stringify(entry)} is refused: ${result.reason}`);
  }
  return [...hosts].sort();
}
