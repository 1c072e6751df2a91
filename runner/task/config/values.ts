import type { Healthcheck } from "../model.ts";
import { describeValue } from "./lax.ts";
import type { TableReader } from "./table.ts";

const MICROS = 1_000_000;

/** Seconds of a key as whole microseconds; `fallback` when absent. Infinite, negative and NaN durations are problems. */
export function readDuration(
  table: TableReader,
  key: string,
  fallbackSeconds: number,
  least: "positive" | "zero",
): number {
  const seconds = table.number(key) ?? fallbackSeconds;
  const micros = Math.round(seconds * MICROS);
  if (Number.isSafeInteger(micros) && (least === "zero" ? micros >= 0 : micros > 0)) return micros;
  table.fail(key, `expected ${least === "zero" ? "zero or more" : "more than zero"} seconds, got ${seconds}`);
  return fallbackSeconds * MICROS;
}

/** Like {@link readDuration} for a limit that may be absent or `inf`: both are null, no limit. */
export function readOptionalLimit(table: TableReader, key: string): number | null {
  const seconds = table.number(key);
  if (seconds === null || seconds === Number.POSITIVE_INFINITY) return null;
  const micros = Math.round(seconds * MICROS);
  if (Number.isSafeInteger(micros) && micros > 0) return micros;
  table.fail(key, `expected more than zero seconds, got ${seconds}`);
  return null;
}

/** A user by name or number, as Docker takes it. */
export function readUser(table: TableReader): string | null {
  const value = table.raw("user");
  if (value === undefined) return null;
  if (typeof value === "bigint" && value >= 0n) return value.toString();
  if (typeof value === "string" && /^[A-Za-z0-9_.][A-Za-z0-9_.-]*\$?(?::[A-Za-z0-9_.-]+)?$/.test(value)) return value;
  table.fail("user", `expected a user name or id, got ${describeValue(value)}`);
  return null;
}

/** Harbor's `healthcheck` table with its defaults, or null when absent. */
export function readHealthcheck(parent: TableReader): Healthcheck | null {
  const table = parent.table("healthcheck");
  if (table === null) return null;
  const command = table.string("command");
  if (command === null && !table.has("command")) table.fail(null, "a healthcheck needs a command");
  if (command !== null && command.trim() === "") table.fail("command", "the command is empty");
  const retries = table.integer("retries") ?? 3;
  if (retries < 1) table.fail("retries", `expected 1 or more, got ${retries}`);
  const healthcheck = {
    command: command ?? "",
    intervalMicros: readDuration(table, "interval_sec", 5, "zero"),
    timeoutMicros: readDuration(table, "timeout_sec", 30, "positive"),
    startPeriodMicros: readDuration(table, "start_period_sec", 0, "zero"),
    startIntervalMicros: readDuration(table, "start_interval_sec", 5, "zero"),
    retries,
  };
  table.finish();
  return healthcheck;
}

const UNITS: Readonly<Record<string, number>> = { K: 1024, M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

/**
 * A size in bytes from `<name>_mb` (mebibytes, an integer) or the deprecated `<name>` (`"4G"`, `"512M"`, `"10K"`; the suffix is
 * mandatory). Two that disagree are a problem.
 */
export function readSize(table: TableReader, name: "memory" | "storage"): number | null {
  const megabytes = table.integer(`${name}_mb`);
  const legacy = table.string(name);
  const current = megabytes === null ? null : megabytes * 1024 ** 2;
  if (current !== null && current <= 0) table.fail(`${name}_mb`, `expected 1 or more, got ${megabytes}`);
  if (legacy === null) return current;
  table.warn("DEPRECATED_KEY", name, `${name} is deprecated; write ${name}_mb`);
  const match = /^\s*(\d+(?:\.\d+)?)\s*([KMGT])i?B?\s*$/i.exec(legacy);
  const bytes = match === null ? 0 : Math.floor(Number(match[1]) * (UNITS[(match[2] ?? "").toUpperCase()] ?? 0));
  if (bytes <= 0 || !Number.isSafeInteger(bytes)) {
    table.fail(name, `expected a size with its unit, such as "512M" or "4G", got ${JSON.stringify(legacy)}`);
    return current;
  }
  if (current !== null && current !== bytes) {
    table.fail(name, `${JSON.stringify(legacy)} contradicts ${name}_mb = ${megabytes}; keep ${name}_mb alone`);
  }
  return bytes;
}
