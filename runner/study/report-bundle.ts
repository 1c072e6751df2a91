import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes, isDigest } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { reportMissing } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { readableStore } from "../evidence/store.ts";
import type { SupersededAttempt } from "./check-ledger.ts";
import type { Plan } from "./plan.ts";
import type { RunReport } from "./run-report.ts";
import { inspectBundle } from "./verify-bundle.ts";
import type { VerifiedRun, VerifiedTrial } from "./verify-run.ts";

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
  readonly trials: readonly VerifiedTrial[];
  /** Sealed attempts that a later one superseded. */
  readonly superseded: readonly SupersededAttempt[];
  readonly store: ReturnType<typeof readableStore>;
  /** Names of the tools of the study's server, as locked. */
  readonly serverTools: readonly string[];
}

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
export async function requireHolding(
  { dir, sha256 }: BundleClaim,
  signal: AbortSignal,
  program: URL | null,
): Promise<VerifiedRun> {
  const { verification, run } = await inspectBundle(dir, sha256, signal, program);
  const { valid, kind, reasons } = verification;
  if (!valid)
    throw reportRefused(dir, reasons, "Run `runner verify` on it; a changed bundle cannot be mended, only run again.");
  if (kind !== "run" || run === null) {
    throw new RunnerError("input", "NOT_A_RUN", `${dir} is the bundle of ${kind}, not of a run`, {
      hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
    });
  }
  return run;
}

/** What a report tells of a run that was recomputed a moment ago. */
export function reportedBundle(
  claim: BundleClaim,
  { report, plan, locked, trials, superseded }: VerifiedRun,
): ReportedBundle {
  const store = readableStore(claim.dir);
  const serverTools = locked.tools.map(({ name }) => name);
  return { ...claim, report, plan, trials, superseded, store, serverTools };
}

async function readRegular(path: string): Promise<Buffer> {
  try {
    if (!(await lstat(path)).isFile())
      throw new RunnerError("integrity", "REPORT_MISSING", `${path} is not a regular file`);
    return await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT") && !hasCode(cause, "ENOTDIR")) throw cause;
    throw reportMissing(path, cause);
  }
}
