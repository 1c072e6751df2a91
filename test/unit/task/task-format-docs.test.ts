import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfig } from "../../../runner/task/config/read-config.ts";
import type { RuleId } from "../../../runner/task/lint/finding.ts";
import { formatProblem } from "../../../runner/task/load-task.ts";
import type { RewardFault } from "../../../runner/task/reward.ts";
import { readVerdict } from "../../../runner/task/verdict.ts";

const root = join(import.meta.dirname, "../../..");
const page = await readFile(join(root, "docs/task-format.md"), "utf8");

function block(language: string): string {
  const match = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(page);
  if (match?.[1] === undefined) throw new Error(`the page has no ${language} block`);
  return match[1];
}

test("the page's task.toml is read without a problem or a warning", () => {
  const result = readConfig(block("toml"), "docs/task-format.md");
  expect(result.problems.map(formatProblem)).toEqual([]);
  expect("config" in result && result.config.context.warnings).toEqual([]);
});

test("the page's verdict is valid", () => {
  expect(readVerdict(Buffer.from(block("json"))).state).toBe("valid");
});

/** The members of a union of string literals, from its source. */
async function members(file: string, type: string): Promise<string[]> {
  const source = await readFile(join(root, file), "utf8");
  const body = new RegExp(`export type ${type} =([\\s\\S]*?);`).exec(source)?.[1] ?? "";
  return [...body.matchAll(/\| "([a-z-]+)"/g)].map((match) => match[1] ?? "");
}

test("the page names every rule of the linter and every cause of a reward fault", async () => {
  const rules = (await members("runner/task/lint/finding.ts", "RuleId")) as RuleId[];
  const causes = (await members("runner/task/reward.ts", "RewardFault")) as RewardFault[];
  expect([rules.length, causes.length]).toEqual([35, 10]);
  expect([...rules, ...causes].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});
