import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { CommandIo } from "../../../runner/cli/command.ts";
import { run } from "../../../runner/cli/verify.ts";

const ANCHOR = `sha256:${"0".repeat(64)}`;
let cwd = "";
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "verify-"));
});
afterEach(() => rm(cwd, { recursive: true, force: true }));

async function verify(
  dir: string,
  anchors: { readonly [name: string]: string } = { reportSha256: ANCHOR },
): Promise<unknown> {
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
  const options = {
    reportSha256: anchors.reportSha256,
    controlReportSha256: anchors.controlReportSha256,
    treatmentReportSha256: anchors.treatmentReportSha256,
    ledger: undefined,
    json: false,
  };
  return run(options, [dir], io).then(
    (code) => [code, out.join("")],
    ({ kind, code, message, hint }) => ({ kind, code, message, hint }),
  );
}

test("a folder that does not exist cannot be verified, which is no verdict on evidence", async () => {
  expect(await verify("absent")).toEqual({
    kind: "usage",
    code: "NO_BUNDLE",
    message: `${cwd}/absent is not a folder`,
    hint: "Name the folder of one bundle, or the one that holds control and treatment.",
  });
});

test("the folder of both conditions needs both anchors, and a lone bundle its own", async () => {
  await mkdir(join(cwd, "run/control"), { recursive: true });
  await mkdir(join(cwd, "run/treatment"));
  const hint =
    "Pass the digests of the report_sha256 lines that the run printed, or the operator's ledger with --ledger.";
  expect(await verify("run")).toEqual({
    kind: "usage",
    code: "ANCHOR_MISSING",
    message: `expected --control-report-sha256 and --treatment-report-sha256: ${cwd}/run holds the bundles of two conditions`,
    hint,
  });
  expect(await verify("run/control", {})).toEqual({
    kind: "usage",
    code: "ANCHOR_MISSING",
    message: `expected --report-sha256: ${cwd}/run/control is one bundle`,
    hint,
  });
  expect(await verify("run", { controlReportSha256: ANCHOR, treatmentReportSha256: ANCHOR })).toEqual([
    1,
    `refused: control: ${cwd}/run/control/report.json does not exist\n` +
      `refused: treatment: ${cwd}/run/treatment/report.json does not exist\nINVALID: 2 reasons\n`,
  ]);
});

test("a folder whose report is gone is evidence that does not hold", async () => {
  await mkdir(join(cwd, "bundle"));
  expect(await verify("bundle")).toEqual([1, `refused: ${cwd}/bundle/report.json does not exist\nINVALID: 1 reason\n`]);
});
