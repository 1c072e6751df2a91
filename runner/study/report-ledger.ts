import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { findAnchor } from "../evidence/operator-ledger.ts";
import { findSubject, type ReportAnchors } from "./report.ts";

/**
 * Fills anchors that were not given from the operator's ledger. A bundle says only which line to look up; its bytes are held against that line.
 * @throws RunnerError `ANCHOR_UNKNOWN`, `LEDGER_BROKEN`, `LEDGER_UNFIT` for a comparison file.
 */
export async function ledgerAnchors(path: string, given: ReportAnchors, ledger: string): Promise<ReportAnchors> {
  switch (await findSubject(path)) {
    case "run":
      return { ...given, report: given.report ?? (await lookUpAnchor(path, ledger)) };
    case "pair":
      return {
        ...given,
        control: given.control ?? (await lookUpAnchor(join(path, "control"), ledger)),
        treatment: given.treatment ?? (await lookUpAnchor(join(path, "treatment"), ledger)),
      };
    case "comparison":
      throw new RunnerError(
        "usage",
        "LEDGER_UNFIT",
        `${path} is a comparison file, and a ledger holds anchors of runs`,
        {
          hint: "Name the folder of the bundles, or pass the file's digest with --report-sha256.",
        },
      );
  }
}

/**
 * The latest anchor of a bundle's run in the operator's ledger.
 * @throws RunnerError `REPORT_MISSING`, `NOT_A_RUN`, `ANCHOR_UNKNOWN`, `LEDGER_BROKEN`.
 */
export async function lookUpAnchor(dir: string, ledger: string): Promise<string> {
  const path = join(dir, BUNDLE.report);
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("input", "REPORT_MISSING", `${path} does not exist`, { cause });
  }
  const report = parseStrictJson(bytes, { source: path });
  const { runId, condition } = isObject(report) ? report : {};
  if (typeof runId !== "string" || (condition !== "control" && condition !== "treatment")) {
    throw new RunnerError("input", "NOT_A_RUN", `${path} names no run and condition to look up in the ledger`, {
      hint: "Name a run's bundle, or the folder that holds control and treatment.",
    });
  }
  return findAnchor(ledger, runId, condition);
}
