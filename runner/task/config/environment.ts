import type { EnvironmentSpec, McpServer } from "../model.ts";
import { describeValue } from "./lax.ts";
import { readBaselineNetwork } from "./network.ts";
import type { TableReader } from "./table.ts";
import { readDuration, readHealthcheck, readSize } from "./values.ts";

/** An environment as `task.toml` states it; where its image comes from depends on files too. */
export interface EnvironmentSettings extends Omit<EnvironmentSpec, "image"> {
  readonly dockerImage: string | null;
}

/** Reads `[environment]` or `[verifier.environment]` with Harbor's defaults. */
export function readEnvironment(table: TableReader): EnvironmentSettings {
  const settings: EnvironmentSettings = {
    buildTimeoutMicros: readDuration(table, "build_timeout_sec", 600, "positive"),
    dockerImage: readNonEmpty(table, "docker_image"),
    os: readOs(table),
    cpus: readCount(table, "cpus", 1),
    memoryBytes: readSize(table, "memory"),
    storageBytes: readSize(table, "storage"),
    gpus: readCount(table, "gpus", 0) ?? 0,
    gpuTypes: table.strings("gpu_types") ?? [],
    tpu: readTpu(table),
    network: readBaselineNetwork(table),
    mcpServers: table.tables("mcp_servers").flatMap((entry) => readMcpServer(table, entry)),
    env: table.stringMap("env"),
    skillsDir: readNonEmpty(table, "skills_dir"),
    healthcheck: readHealthcheck(table),
    workdir: readWorkdir(table),
  };
  table.finish();
  return settings;
}

function readNonEmpty(table: TableReader, key: string): string | null {
  const value = table.string(key);
  if (value?.trim() === "") table.fail(key, "the value is empty; leave the key out instead");
  return value;
}

function readWorkdir(table: TableReader): string | null {
  const workdir = readNonEmpty(table, "workdir");
  // Windows paths begin with a drive; such a task is refused later, by name.
  if (workdir !== null && !/^(?:\/|[A-Za-z]:)/.test(workdir)) {
    table.fail("workdir", `expected an absolute path, got ${describeValue(workdir)}`);
  }
  return workdir;
}

function readCount(table: TableReader, key: string, least: number): number | null {
  const value = table.integer(key);
  if (value !== null && value < least) table.fail(key, `expected ${least} or more, got ${value}`);
  return value;
}

function readOs(table: TableReader): "linux" | "windows" {
  const value = table.string("os");
  if (value === null) return "linux";
  const lower = value.toLowerCase();
  if (lower === "linux" || lower === "windows") return lower;
  table.fail("os", `expected "linux" or "windows", got ${describeValue(value)}`);
  return "linux";
}

function readTpu(parent: TableReader): EnvironmentSpec["tpu"] {
  const table = parent.table("tpu");
  if (table === null) return null;
  const type = table.string("type") ?? "";
  const topology = table.string("topology") ?? "";
  if (type === "") table.fail("type", "a TPU needs a type");
  if (!/^\d+x\d+(?:x\d+)?$/.test(topology))
    table.fail("topology", `expected "NxM" or "NxMxK", got ${describeValue(topology)}`);
  table.finish();
  return { type, topology };
}

function readMcpServer(parent: TableReader, table: TableReader | string): readonly McpServer[] {
  if (typeof table === "string") {
    parent.fail("mcp_servers", `expected a table, got ${describeValue(table)}`);
    return [];
  }
  const stated = table.oneOf("transport", ["sse", "stdio", "streamable-http", "http"]) ?? "sse";
  const server: McpServer = {
    name: table.string("name") ?? "",
    transport: stated === "http" ? "streamable-http" : stated,
    url: table.string("url"),
    command: table.string("command"),
    args: table.strings("args") ?? [],
  };
  if (server.name === "") table.fail("name", "an MCP server needs a name");
  if (server.transport === "stdio" && server.command === null)
    table.fail("command", "a stdio MCP server needs a command");
  if (server.transport !== "stdio" && server.url === null)
    table.fail("url", `a ${server.transport} MCP server needs a url`);
  table.finish();
  return [server];
}
