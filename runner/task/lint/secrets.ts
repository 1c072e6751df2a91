import { join } from "node:path";
import { isStudyKey } from "../env.ts";
import { readText } from "../files.ts";
import type { EnvTemplates, Task } from "../model.ts";
import type { Found } from "./finding.ts";
import { isText, linesOf, type TaskFile } from "./task-files.ts";

const SECRETS: readonly (readonly [RegExp, string])[] = [
  [/-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/, "a private key"],
  [/\bsk-(?:ant-|proj-|or-)?[A-Za-z0-9_-]{20,}/, "a model provider's key"],
  [/\bAKIA[0-9A-Z]{16}\b/, "a cloud access key"],
  [/\bAIza[0-9A-Za-z_-]{35}\b/, "a cloud API key"],
  [/\bgh[pousr]_[A-Za-z0-9]{36,}\b/, "a GitHub token"],
  [/\bgithub_pat_[A-Za-z0-9_]{40,}\b/, "a GitHub token"],
  [/\bglpat-[A-Za-z0-9_-]{20,}/, "a GitLab token"],
  [/\bxox[abprs]-[A-Za-z0-9-]{10,}/, "a Slack token"],
  [/\bhf_[A-Za-z0-9]{30,}\b/, "a Hugging Face token"],
];

/** Looks for keys and tokens in every file of a task and in its environment tables. Values are never quoted. */
export async function checkSecrets(task: Task, files: readonly TaskFile[]): Promise<readonly Found[]> {
  const found: Found[] = [];
  const toml = join(task.dir, "task.toml");
  const texts = [
    { file: toml, lines: ((await readText(toml)) ?? "").split("\n") },
    ...task.steps.map((step) => ({ file: step.instructionFile, lines: step.instruction.split("\n") })),
    ...files.filter((entry) => isText(entry.bytes)).map((entry) => ({ file: entry.file, lines: linesOf(entry.bytes) })),
  ];
  for (const { file, lines } of texts) {
    lines.forEach((text, index) => {
      const secret = SECRETS.find(([pattern]) => pattern.test(text));
      if (secret !== undefined) found.push(finding(file, index + 1, `the line looks like it holds ${secret[1]}`));
    });
  }
  for (const [key, env] of environments(task)) {
    for (const [name, value] of Object.entries(env)) {
      if (!isStudyKey(name) || value === "" || value.startsWith("${")) continue;
      found.push(finding(toml, null, `${key}.${name} is written out, though its name is a provider's key`));
    }
  }
  return found;
}

function environments(task: Task): readonly (readonly [string, EnvTemplates])[] {
  return [
    ["environment.env", task.environment.env],
    ["solution.env", task.solutionEnv],
    ...task.steps.map((step) => ["verifier.env", step.verifier.env] as const),
  ];
}

function finding(file: string, line: number | null, message: string): Found {
  const hint = "Take it out, and revoke it if it was ever valid; everything in a task goes into evidence.";
  return { level: "error", rule: "secret", file, line, message, hint };
}
