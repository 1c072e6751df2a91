import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { isProofReport, verifyProofBundle } from "../proof/verify-bundle.ts";
import { counted } from "../stats/wording.ts";
import type { ReportAnchors } from "../study/report.ts";
import { ledgerAnchors } from "../study/report-ledger.ts";
import { verifyBundle } from "../study/verify-bundle.ts";
import { verifyPair } from "../study/verify-pair.ts";
import type { CommandIo, OptionValues, Run } from "./command.ts";
import { examineProgram } from "./examine-program.ts";
import type { OPTIONS } from "./options.ts";

/** What is printed for either kind of bundle. */
interface Result {
  readonly valid: boolean;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly [count: string]: unknown;
}

export const run: Run<typeof OPTIONS.verify> = async (options, [folder = ""], io) => {
  const dir = resolve(io.cwd, folder);
  const { json } = options;
  const result = await verifyFolder(dir, await anchorsOf(dir, options, io.cwd), io);
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else {
    const { valid, kind, reasons, ...counts } = result;
    for (const reason of reasons) io.out(`refused: ${reason}\n`);
    const figures = Object.entries(counts).map(([name, count]) => `${String(count)} ${name}`);
    io.out(
      valid
        ? `valid: ${[kind, ...figures].join(", ")}; every digest and every derived value came out again\n`
        : `INVALID: ${counted(reasons.length, "reason")}\n`,
    );
  }
  return result.valid ? 0 : 1;
};

async function verifyFolder(dir: string, anchors: ReportAnchors, io: CommandIo): Promise<Result> {
  const program = examineProgram(io);
  const { report, control, treatment } = anchors;
  if ((await requireBundle(dir)) === "pair") {
    if (control !== undefined && treatment !== undefined)
      return { ...(await verifyPair(dir, { control, treatment }, io.signal, program)) };
    throw anchorMissing(
      "--control-report-sha256 and --treatment-report-sha256",
      `${dir} holds the bundles of two conditions`,
    );
  }
  if (report === undefined) throw anchorMissing("--report-sha256", `${dir} is one bundle`);
  return (await verifyProof(dir, report)) ?? { ...(await verifyBundle(dir, report, io.signal, program)) };
}

function anchorMissing(option: string, why: string): RunnerError {
  return new RunnerError("usage", "ANCHOR_MISSING", `expected ${option}: ${why}`, {
    hint: "Pass the digests of the report_sha256 lines that the run printed, or the operator's ledger with --ledger.",
  });
}

async function anchorsOf(dir: string, options: Options, cwd: string): Promise<ReportAnchors> {
  const given = {
    report: options.reportSha256,
    control: options.controlReportSha256,
    treatment: options.treatmentReportSha256,
  };
  if (options.ledger === undefined) return given;
  await requireBundle(dir);
  return ledgerAnchors(dir, given, resolve(cwd, options.ledger));
}

type Options = OptionValues<typeof OPTIONS.verify>;

/** A name that leads to no bundle at all is a slip of the hand, and says nothing about evidence. */
async function requireBundle(dir: string): Promise<"bundle" | "pair"> {
  const isFolder = (path: string): Promise<boolean> =>
    stat(path).then(
      (info) => info.isDirectory(),
      () => false,
    );
  if (!(await isFolder(dir))) {
    throw new RunnerError("usage", "NO_BUNDLE", `${dir} is not a folder`, {
      hint: "Name the folder of one bundle, or the one that holds control and treatment.",
    });
  }
  const lone = await stat(join(dir, BUNDLE.report)).catch(() => null);
  const pair = await Promise.all([join(dir, "control"), join(dir, "treatment")].map(isFolder));
  return lone === null && pair.every(Boolean) ? "pair" : "bundle";
}

/** Verifies a bundle of the proof benchmarks; null for any other, and for one whose report cannot be read. */
async function verifyProof(dir: string, anchor: string): Promise<Result | null> {
  const report = await readAnchoredReport(join(dir, BUNDLE.report), anchor).catch(() => null);
  if (report === null || !isProofReport(report)) return null;
  const { problems, records, replies } = await verifyProofBundle(dir, anchor);
  return { valid: problems.length === 0, kind: "proof benchmark", reasons: problems, records, replies };
}
