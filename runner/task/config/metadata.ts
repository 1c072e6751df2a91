import type { ExactJson } from "../../base/json.ts";
import type { RunnerMetadata } from "../model.ts";
import { isTable, toExactJson } from "../toml.ts";
import { type ConfigContext, openTable, type TableReader } from "./table.ts";

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;
const NONE: RunnerMetadata = {
  verifierShared: [],
  oracleShared: [],
  formats: [],
  submission: null,
  publicInputs: [],
  rewardKey: "reward",
};

/** Reads `[metadata]` as exact JSON; any keys are allowed. */
export function readMetadata(context: ConfigContext, root: TableReader): Readonly<Record<string, ExactJson>> {
  const value = root.raw("metadata");
  if (value === undefined) return {};
  if (!isTable(value)) {
    root.fail("metadata", "expected a table");
    return {};
  }
  const converted = toExactJson(value, ["metadata"], (path, spelling) => {
    context.warnings.push({
      code: "NON_JSON_NUMBER",
      file: context.file,
      line: context.document.place(path)?.line ?? null,
      subject: path.join("."),
      message: `${path.join(".")} = ${spelling} has no JSON form; it is kept as the string "${spelling}"`,
    });
  });
  return converted as Readonly<Record<string, ExactJson>>;
}

/** Reads `[metadata.runner]`, the project's own table: its unknown keys are refused. */
export function readRunnerMetadata(context: ConfigContext): RunnerMetadata {
  const metadata = context.document.root.metadata;
  if (!isTable(metadata) || metadata.runner === undefined) return NONE;
  if (!isTable(metadata.runner)) {
    context.problems.push({
      file: context.file,
      place: context.document.place(["metadata", "runner"]),
      message: "metadata.runner: expected a table",
    });
    return NONE;
  }
  const table = openTable(context, ["metadata", "runner"], metadata.runner);
  const known = ["verifier_shared", "oracle_shared", "formats", "submission", "public_inputs", "reward_key"];
  for (const key of Object.keys(metadata.runner)) {
    if (!known.includes(key)) table.fail(key, `unknown key; known are ${known.join(", ")}`);
  }
  const submission = table.string("submission");
  if (submission !== null && (!submission.startsWith("/") || submission.split("/").includes(".."))) {
    table.fail("submission", `expected an absolute path without "..", got ${JSON.stringify(submission)}`);
  }
  const publicInputs = table.strings("public_inputs") ?? [];
  for (const path of publicInputs) {
    if (path.startsWith("/") || path.split("/").includes("..")) {
      table.fail("public_inputs", `expected paths inside environment/, got ${JSON.stringify(path)}`);
    }
  }
  return {
    verifierShared: readNames(table, "verifier_shared"),
    oracleShared: readNames(table, "oracle_shared"),
    formats: readNames(table, "formats"),
    submission,
    publicInputs,
    rewardKey: table.string("reward_key") ?? "reward",
  };
}

function readNames(table: TableReader, key: string): readonly string[] {
  const names = table.strings(key) ?? [];
  for (const name of names) {
    if (!NAME.test(name)) table.fail(key, `expected the name of a file or folder, got ${JSON.stringify(name)}`);
  }
  return [...new Set(names)].sort();
}
