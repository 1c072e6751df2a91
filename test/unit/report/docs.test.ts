import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { COMMANDS, GROUPS } from "../../../runner/cli/commands.ts";
import { createProgram } from "../../../runner/cli/program.ts";
import { appendAnchor } from "../../../runner/evidence/operator-ledger.ts";
import { makeBundlePair } from "../../support/bundles.ts";

const exec = promisify(execFile);
const page = await readFile(new URL("../../../docs/report.md", import.meta.url), "utf8");

let dir: string;
let words: Readonly<Record<string, string>>;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "report-docs-"));
  const { anchors } = await makeBundlePair(join(dir, "run"));
  words = { $CONTROL: anchors.control, $TREATMENT: anchors.treatment };
  await writeFile(join(dir, "note.txt"), "Fine.\n");
  await exec("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(dir, "operator")]);
  await writeFile(join(dir, "signers"), `operator@example.org ${await readFile(join(dir, "operator.pub"), "utf8")}`);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

function blocks(language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\``, "gm"))].map(([, block = ""]) => block);
}

async function runLine(line: string): Promise<void> {
  const [program = "", ...args] = line.split(" ").map((word) => words[word] ?? word);
  if (program !== "runner") {
    await exec("sh", ["-c", line], { cwd: dir });
    return;
  }
  const io: CommandIo = {
    out: () => undefined,
    say: () => undefined,
    env: {},
    cwd: dir,
    projectRoot: dir,
    signal: new AbortController().signal,
    interactive: false,
  };
  expect(await createProgram(COMMANDS, GROUPS, "0", io).parse(args), line).toBe(0);
}

test("every command of the page works as it stands, in its order", async () => {
  const lines = blocks("sh").flatMap((block) => block.trim().split("\n"));
  expect(lines).toHaveLength(9);
  for (const line of lines) await runLine(line);
  expect((await readdir(dir)).sort()).toEqual([
    "comparison-report.json",
    "comparison.json",
    "control.report.sig",
    "note.txt",
    "operator",
    "operator.pub",
    "report.html",
    "run",
    "signers",
  ]);
});

test("the page's ledger line is the one that is written", async () => {
  const path = join(dir, "anchors.jsonl");
  const reportSha256 = digestBytes("report");
  await appendAnchor(path, {
    runId: "20261130T115500Z-0badcafe",
    condition: "control",
    studyId: "demo",
    reportSha256,
    supersedes: null,
    recordedAt: "2026-11-30T12:00:00.000Z",
  });
  expect((await readFile(path, "utf8")).replace(reportSha256, "sha256:…")).toBe(blocks("json")[0]);
});
