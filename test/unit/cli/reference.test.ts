import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { expect, test } from "vitest";
import { COMMANDS } from "../../../runner/cli/commands.ts";
import { bashCompletion, referencePage } from "../../../runner/cli/reference.ts";
import { PROJECT_ROOT } from "../../support/runner.ts";

test("docs/cli.md is what the table of commands says (renew it with `npm run docs`)", async () => {
  expect(await readFile(join(PROJECT_ROOT, "docs", "cli.md"), "utf8")).toBe(referencePage(COMMANDS));
});

test("the completion offers commands, subcommands and options", async () => {
  const complete = async (line: string): Promise<string[]> => {
    const words = line.split(" ");
    const script = `${bashCompletion(COMMANDS)}
COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); COMP_CWORD=${words.length - 1}; _runner; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await execa("bash", ["-c", script])).stdout.split("\n");
  };
  expect(await complete("runner ta")).toEqual(["tasks"]);
  expect(await complete("runner tasks ch")).toEqual(["check"]);
  expect(await complete("runner execute --exec")).toEqual(["--execute"]);
});
