import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROOT } from "../../../support/e2e.ts";

const NAMES = 'y=["AGENTS.md",...!t.disableClaudeCodePrompt?["CLAUDE.md"]:[],"CONTEXT.md"],u=1';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "seal-"));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function seal(program: string) {
  const path = join(dir, "program");
  await writeFile(path, Buffer.from(program, "latin1"));
  const { exitCode, stderr } = await execa("python3", [join(ROOT, "images", "agent-opencode", "seal.py"), path], {
    reject: false,
  });
  return { exitCode, stderr, program: await readFile(path, "latin1") };
}

test("the names of instruction files give way to others of the same length, and nothing else changes", async () => {
  expect(await seal(`\x00\xff a="AGENTS.md"; ${NAMES} \xfe`)).toEqual({
    exitCode: 0,
    stderr: "",
    program: `\x00\xff a="AGENTS.md"; y=["no/ag.ent",...!t.disableClaudeCodePrompt?["no/cl.ude"]:[],"no/con.ext"],u=1 \xfe`,
  });
});

test.each([
  ["not at all", "nothing of the kind", 0],
  ["twice", `${NAMES}${NAMES}`, 2],
])("a program that holds them %s is refused and left as it was", async (_title, program, count) => {
  expect(await seal(program)).toEqual({
    exitCode: 70,
    stderr: `runner: the names of instruction files stand ${count} times in the program, not once`,
    program,
  });
});
