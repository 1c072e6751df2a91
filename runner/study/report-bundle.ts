import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { readableStore } from "../evidence/store.ts";
import { type TrialRecord, trialRecordSchema } from "../trial/record.ts";
import { type Plan, planSchema } from "./plan.ts";
import { type RunReport, runReportSchema } from "./run-report.ts";
import type { TrialRow } from "./trial-row.ts";
import { verifyBundle } from "./verify-bundle.ts";

/** A run's bundle whose every digest and derived value came out again, ready to be told about. */
export interface ReportedBundle {
  readonly dir: string;
  /** Digest of the root document's bytes. */
  readonly sha256: Digest;
  /** The digest was the operator's, not the file's own. */
  readonly heldAgainstAnchor: boolean;
  readonly report: RunReport;
  readonly plan: Plan;
  /** In the order of the trials. */
  readonly trials: readonly { readonly row: TrialRow; readonly record: TrialRecord }[];
  readonly store: ReturnType<typeof readableStore>;
  readonly objects: number;
}

const MAX_ROWS_BYTES = 256 * 1024 * 1024;

/**
 * Verifies a run's bundle and reads what a report tells. Without an anchor the bundle is checked against its own digest: it holds together,
 * and whether it is the one that the run wrote is not known.
 * @throws RunnerError `REPORT_REFUSED` with every reason, `NOT_A_RUN` for another kind of bundle, `ANCHOR_MALFORMED`.
 */
export async function readReportedBundle(
  dir: string,
  anchor: string | undefined,
  signal: AbortSignal,
): Promise<ReportedBundle> {
  const path = join(dir, BUNDLE.report);
  const sha256 = anchor ?? digestBytes(await readRegular(path));
  const verification = await verifyBundle(dir, sha256, signal);
  if (!verification.valid) {
    throw new RunnerError(
      "integrity",
      "REPORT_REFUSED",
      `${dir} is refused, so there is nothing to report: ${verification.reasons.join("; ")}`,
      {
        hint: "Run `runner verify` for the same reasons line by line; a changed bundle cannot be mended, only run again.",
        details: { reasons: verification.reasons },
      },
    );
  }
  if (verification.kind !== "run") {
    throw new RunnerError("input", "NOT_A_RUN", `${path} is the root document of ${verification.kind}, not of a run`, {
      hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
    });
  }
  const report = parseInput(runReportSchema, await readAnchoredReport(path, sha256), path);
  const store = readableStore(dir);
  const plan = parseInput(
    planSchema,
    parseStrictJson(await store.readAll(report.plan), { source: "the plan" }),
    "the plan",
  );
  // The rows came out again from the records and traces a moment ago, so their stored bytes are read.
  const rows = (await store.readAll(report.rows, MAX_ROWS_BYTES)).toString("utf8").split("\n");
  const trials: { row: TrialRow; record: TrialRecord }[] = [];
  for (const [index, { number, record: ref }] of report.trials.entries()) {
    const source = `the record of trial ${number}`;
    const record = parseInput(trialRecordSchema, parseStrictJson(await store.readAll(ref), { source }), source);
    trials.push({
      row: parseStrictJson(rows[index] ?? "", { source: `the row of trial ${number}` }) as unknown as TrialRow,
      record,
    });
  }
  return {
    dir,
    sha256: digestBytes(await readRegular(path)),
    heldAgainstAnchor: anchor !== undefined,
    report,
    plan,
    trials,
    store,
    objects: verification.objects,
  };
}

async function readRegular(path: string): Promise<Buffer> {
  try {
    if (!(await lstat(path)).isFile())
      throw new RunnerError("integrity", "REPORT_MISSING", `${path} is not a regular file`);
    return await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "ENOTDIR")) throw cause;
    throw new RunnerError("input", "REPORT_MISSING", `${path} does not exist`, {
      hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
      cause,
    });
  }
}
