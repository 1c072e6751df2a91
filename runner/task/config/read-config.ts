import type { ExactJson } from "../../base/json.ts";
import type { ArtifactSpec, EnvTemplates, RunnerMetadata, TaskWarning } from "../model.ts";
import { type Problem, readToml } from "../toml.ts";
import { readArtifacts } from "./artifacts.ts";
import { type EnvironmentSettings, readEnvironment } from "./environment.ts";
import { readMetadata, readRunnerMetadata } from "./metadata.ts";
import { type AgentSettings, readAgent, readVerifier, type VerifierSettings } from "./phases.ts";
import { readSteps, type StepSettings } from "./steps.ts";
import { type ConfigContext, openTable, type TableReader } from "./table.ts";

/** A `task.toml` as written, types and ranges checked, nothing inherited yet. */
export interface TaskConfig {
  readonly context: ConfigContext;
  readonly schemaVersion: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly description: string;
  readonly source: string | null;
  readonly rewardStrategy: "mean" | "final";
  readonly agent: AgentSettings;
  readonly verifier: VerifierSettings;
  readonly environment: EnvironmentSettings;
  readonly solutionEnv: EnvTemplates;
  readonly artifacts: readonly ArtifactSpec[];
  readonly steps: readonly StepSettings[];
  readonly metadata: Readonly<Record<string, ExactJson>>;
  readonly runner: RunnerMetadata;
}

/** Reads a `task.toml` (Harbor 0.22, legacy spellings included). All problems of the file come back together. */
export function readConfig(
  text: string,
  file: string,
): { readonly config: TaskConfig; readonly problems: readonly Problem[] } | { readonly problems: readonly Problem[] } {
  const read = readToml(text, file);
  if (!("document" in read)) return read;
  const warnings: TaskWarning[] = [];
  const problems: Problem[] = [];
  const context: ConfigContext = { file, document: read.document, problems, warnings };
  const root = openTable(context, [], read.document.root);
  const environment = root.table("environment") ?? openTable(context, ["environment"], {});
  const config: TaskConfig = {
    context,
    schemaVersion: readSchemaVersion(root),
    ...readIdentity(root),
    source: root.string("source"),
    rewardStrategy: root.oneOf("multi_step_reward_strategy", ["mean", "final"]) ?? "mean",
    agent: readAgent(root),
    verifier: readVerifier(root),
    environment: readEnvironment(environment),
    solutionEnv: readSolution(root),
    artifacts: readArtifacts(root),
    steps: readSteps(root),
    metadata: readMetadata(context, root),
    runner: readRunnerMetadata(context),
  };
  root.finish();
  problems.sort((a, b) => order(a.place?.line, b.place?.line) || order(a.place?.column, b.place?.column));
  warnings.sort((a, b) => order(a.line ?? undefined, b.line ?? undefined));
  return { config, problems };
}

function order(a: number | undefined, b: number | undefined): number {
  return (a ?? 0) - (b ?? 0);
}

function readSchemaVersion(root: TableReader): string {
  const stated = root.string("schema_version");
  const legacy = root.string("version");
  if (legacy !== null) root.warn("DEPRECATED_KEY", "version", "version is the legacy spelling of schema_version");
  return stated ?? legacy ?? "1.4";
}

const PACKAGE = /^[A-Za-z0-9][A-Za-z0-9._-]*\/[A-Za-z0-9][A-Za-z0-9._-]*$/;

function readIdentity(root: TableReader): Pick<TaskConfig, "name" | "version" | "description"> {
  const table = root.table("task");
  if (table === null) return { name: null, version: null, description: "" };
  const name = table.string("name");
  if (name === null && !table.has("name")) table.fail(null, "the table needs a name");
  if (name !== null && (!PACKAGE.test(name) || name.includes(".."))) {
    table.fail("name", `expected "org/name", got ${JSON.stringify(name)}`);
  }
  const version = table.string("version");
  if (version === "") table.fail("version", "the version is empty; leave the key out instead");
  table.strings("keywords");
  for (const author of table.tables("authors")) {
    if (typeof author === "string") {
      table.fail("authors", `expected a table with a name, got ${JSON.stringify(author)}`);
      continue;
    }
    if (author.string("name") === null && !author.has("name")) author.fail(null, "an author needs a name");
    author.string("email");
    author.finish();
  }
  const description = table.string("description") ?? "";
  table.finish();
  return { name, version, description };
}

function readSolution(root: TableReader): EnvTemplates {
  const table = root.table("solution");
  if (table === null) return {};
  const env = table.stringMap("env");
  table.finish();
  return env;
}
