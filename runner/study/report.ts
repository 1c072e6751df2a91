import { stat } from "node:fs/promises";
import { join } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { reportMissing } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import type { ReportModel } from "../report/model.ts";
import { compareRuns } from "./compare.ts";
import { buildReport } from "./report-build.ts";
import { claimBundle, reportedBundle, reportRefused, requireHolding } from "./report-bundle.ts";
import { comparisonModel, readComparison } from "./report-comparison.ts";

/** What a path given to a report is. */
export type ReportSubject = "run" | "pair" | "comparison";

/** Digests that the operator kept outside of the evidence; undefined where none was given. */
export interface ReportAnchors {
  /** Of a single bundle, or of a comparison file. */
  readonly report: string | undefined;
  readonly control: string | undefined;
  readonly treatment: string | undefined;
}

export interface ReportRequest {
  /** A bundle, the folder that holds control and treatment, or a comparison file. */
  readonly path: string;
  readonly anchors: ReportAnchors;
  /** Numbers of trials whose timelines are drawn; empty: the first by task. */
  readonly timelineTrials: readonly number[];
}

/**
 * Rebuilds a report from evidence alone: everything is recomputed first, and evidence that does not hold gives no report.
 * @throws RunnerError `REPORT_REFUSED` with every reason; `REPORT_SUBJECT`, `ANCHOR_MISPLACED` for paths and anchors that do not go together.
 */
export async function makeReport(
  request: ReportRequest,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<ReportModel> {
  const { path, anchors, timelineTrials } = request;
  const subject = await findSubject(path);
  requireMatching(subject, anchors);
  switch (subject) {
    case "comparison":
      return comparisonModel(path, await readComparison(path, anchors.report));
    case "run": {
      const claim = await claimBundle(path, anchors.report);
      const run = await requireHolding(claim, signal, program);
      return buildReport({ bundles: [reportedBundle(claim, run)], comparison: null, timelineTrials });
    }
    case "pair": {
      const control = await claimBundle(join(path, "control"), anchors.control);
      const treatment = await claimBundle(join(path, "treatment"), anchors.treatment);
      const held = { control: control.sha256, treatment: treatment.sha256 };
      const { comparison, runs } = await compareRuns({ folders: [path], anchors: held }, signal, program);
      if (!comparison.valid)
        throw reportRefused(path, comparison.reasons, "Report each of the two bundles on its own to see what holds.");
      if (runs === null) throw new Error("a valid comparison has its two runs");
      const bundles = [reportedBundle(control, runs.control), reportedBundle(treatment, runs.treatment)];
      return buildReport({ bundles, comparison, timelineTrials });
    }
  }
}

/** Tells a bundle, a pair of bundles and a comparison file apart. */
export async function findSubject(path: string): Promise<ReportSubject> {
  const kind = async (name: string): Promise<"file" | "folder" | null> => {
    const info = await stat(name).catch(() => null);
    return info === null ? null : info.isDirectory() ? "folder" : "file";
  };
  const found = await kind(path);
  if (found === "file") return "comparison";
  if (found === "folder") {
    if ((await kind(join(path, BUNDLE.report))) === "file") return "run";
    const sides = await Promise.all(["control", "treatment"].map((side) => kind(join(path, side))));
    if (sides.every((side) => side === "folder")) return "pair";
    if ((await kind(join(path, BUNDLE.ledger))) === "file") throw reportMissing(join(path, BUNDLE.report), undefined);
  }
  const problem = found === null ? "does not exist" : `holds neither ${BUNDLE.report} nor control and treatment`;
  throw new RunnerError("usage", "REPORT_SUBJECT", `${path} ${problem}`, {
    hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
  });
}

function requireMatching(subject: ReportSubject, anchors: ReportAnchors): void {
  const pair = anchors.control !== undefined || anchors.treatment !== undefined;
  if (subject === "pair" ? anchors.report === undefined : !pair) return;
  const [given, fitting] =
    subject === "pair"
      ? ["--report-sha256", "--control-report-sha256 and --treatment-report-sha256"]
      : ["--control-report-sha256 or --treatment-report-sha256", "--report-sha256"];
  throw new RunnerError("usage", "ANCHOR_MISPLACED", `${given} was given for a ${subject}`, {
    hint: `A ${subject} is held against ${fitting}.`,
  });
}
