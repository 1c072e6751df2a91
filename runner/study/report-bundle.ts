import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes, isDigest } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { type Surface, surfaceSchema } from "../base/formats/surface.ts";
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

/** A bundle by its folder and the digest of its root document. */
export interface BundleClaim {
  readonly dir: string;
  /** Digest of the root document's bytes. */
  readonly sha256: Digest;
  /** The digest was the operator's, not the file's own. */
  readonly heldAgainstAnchor: boolean;
}

/** A run's bundle whose every digest and derived value came out again, ready to be told about. */
export interface ReportedBundle extends BundleClaim {
  readonly report: RunReport;
  readonly plan: Plan;
  /** In the order of the trials. */
  readonly trials: readonly { readonly row: TrialRow; readonly record: TrialRecord }[];
  readonly store: ReturnType<typeof readableStore>;
  /** Names of the tools of the study's server, as locked. */
  readonly serverTools: readonly string[];
}

const MAX_ROWS_BYTES = 256 * 1024 * 1024;

/**
 * What a bundle is held against: the operator's anchor, or its own digest where there is none. Its own digest shows that the bundle holds
 * together, not that it is the one that the run wrote.
 * @throws RunnerError `REPORT_MISSING`, `ANCHOR_MALFORMED`.
 */
export async function claimBundle(dir: string, anchor: string | undefined): Promise<BundleClaim> {
  if (anchor === undefined)
    return { dir, sha256: digestBytes(await readRegular(join(dir, BUNDLE.report))), heldAgainstAnchor: false };
  if (isDigest(anchor)) return { dir, sha256: anchor, heldAgainstAnchor: true };
  throw new RunnerError(
    "usage",
    "ANCHOR_MALFORMED",
    `expected an anchor of the form sha256:<64 hex>, got ${JSON.stringify(anchor)}`,
    { hint: "Pass the digest of the report_sha256 line that the run printed." },
  );
}

/** The refusal of a report, with everything that stands against its evidence. */
export function reportRefused(what: string, reasons: readonly string[], hint: string): RunnerError {
  return new RunnerError(
    "integrity",
    "REPORT_REFUSED",
    `${what} is refused, so there is nothing to report: ${reasons.join("; ")}`,
    { hint, details: { reasons } },
  );
}

/** Recomputes a bundle. @throws RunnerError `REPORT_REFUSED` with every reason, `NOT_A_RUN` for another kind of bundle. */
export async function requireHolding({ dir, sha256 }: BundleClaim, signal: AbortSignal): Promise<void> {
  const { valid, kind, reasons } = await verifyBundle(dir, sha256, signal);
  if (!valid)
    throw reportRefused(dir, reasons, "Run `runner verify` on it; a changed bundle cannot be mended, only run again.");
  if (kind !== "run") {
    throw new RunnerError("input", "NOT_A_RUN", `${dir} is the bundle of ${kind}, not of a run`, {
      hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
    });
  }
}

/**
 * Reads what a report tells from a bundle that was recomputed. Every byte is held against its digest again, from the root document's on.
 */
export async function readReportedBundle(claim: BundleClaim): Promise<ReportedBundle> {
  const { dir, sha256 } = claim;
  const path = join(dir, BUNDLE.report);
  const report = parseInput(runReportSchema, await readAnchoredReport(path, sha256), path);
  const store = readableStore(dir);
  const plan = parseInput(
    planSchema,
    parseStrictJson(await store.readAll(report.plan), { source: "the plan" }),
    "the plan",
  );
  const surface = parseInput<Surface>(
    surfaceSchema,
    parseStrictJson(await store.readAll(report.lockedSurface), { source: "the surface" }),
    "the surface",
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
    ...claim,
    report,
    plan,
    trials,
    store,
    serverTools: surface.tools.map(({ name }) => name),
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
