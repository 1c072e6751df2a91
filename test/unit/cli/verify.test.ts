import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { run } from "../../../runner/cli/verify.ts";

let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "verify-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function verify(dir: string): Promise<unknown> {
  const out: string[] = [];
  const io: CommandIo = {
    out: (text) => void out.push(text),
    say: () => undefined,
    env: {},
    cwd,
    projectRoot: cwd,
    signal: new AbortController().signal,
    interactive: false,
  };
  const anchor = `sha256:${"0".repeat(64)}`;
  return run({ reportSha256: anchor, json: false }, [dir], io).then(
    (code) => [code, out.join("")],
    ({ kind, code, message, hint }) => ({ kind, code, message, hint }),
  );
}

test("a folder that does not exist cannot be verified, which is no verdict on evidence", async () => {
  expect(await verify("absent")).toEqual({
    kind: "usage",
    code: "NO_BUNDLE",
    message: `${cwd}/absent is not a folder`,
    hint: "Name the folder of one bundle.",
  });
});

test("the folder of both conditions is no bundle, and the error names the two", async () => {
  await mkdir(join(cwd, "run/control"), { recursive: true });
  await mkdir(join(cwd, "run/treatment"));
  expect(await verify("run")).toEqual({
    kind: "usage",
    code: "NO_BUNDLE",
    message: `${cwd}/run holds the bundles of two conditions`,
    hint: `Verify each with its own anchor: ${cwd}/run/control and ${cwd}/run/treatment.`,
  });
});

test("a folder whose report is gone is evidence that does not hold", async () => {
  await mkdir(join(cwd, "bundle"));
  expect(await verify("bundle")).toEqual([
    1,
    `refused: ${cwd}/bundle/report.json does not exist\nINVALID: 1 reasons\n`,
  ]);
});
