import { existsSync } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes, isDigest } from "../base/digest.ts";
import { writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { BUNDLE } from "./bundle.ts";

/** Writes a bundle's root document as canonical bytes and gives its anchor: the sha256 of exactly those bytes. */
export async function writeReport(path: string, report: unknown): Promise<Digest> {
  const bytes = canonicalBytes(report);
  await writeDurably(path, bytes);
  return digestBytes(bytes);
}

/** The lines that hand an anchor to the operator. */
export function anchorLines(label: string, anchor: Digest): string[] {
  return [
    `report_sha256 ${anchor} ${label}`,
    "Keep this line outside the output folder: only it proves later that the report is the one this run wrote.",
  ];
}

/**
 * Reads a root document whose bytes must have the anchor's digest. The bytes are hashed before they are parsed, and the parsed bytes are
 * the hashed ones.
 * @throws RunnerError `ANCHOR_MALFORMED`, `REPORT_MISSING`, `REPORT_CHANGED`, `JSON_INVALID` or `REPORT_NOT_CANONICAL`.
 */
export async function readAnchoredReport(path: string, anchor: string): Promise<Json> {
  if (!isDigest(anchor)) {
    throw new RunnerError(
      "usage",
      "ANCHOR_MALFORMED",
      `expected an anchor of the form sha256:<64 hex>, got ${JSON.stringify(anchor)}`,
      {
        hint: "Pass the digest of the report_sha256 line that the run printed.",
      },
    );
  }
  let bytes: Buffer;
  try {
    const info = await lstat(path);
    if (!info.isFile()) throw new RunnerError("integrity", "REPORT_MISSING", `${path} is not a regular file`);
    bytes = await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw reportMissing(path, cause);
  }
  const found = digestBytes(bytes);
  if (found !== anchor) {
    throw new RunnerError("integrity", "REPORT_CHANGED", `${path} has digest ${found}, the anchor says ${anchor}`, {
      hint: "The report is not the one the anchor was printed for: it was changed, or the anchor belongs to another run.",
    });
  }
  const value = parseStrictJson(bytes, { source: path });
  if (!canonicalBytes(value).equals(bytes)) {
    throw new RunnerError("integrity", "REPORT_NOT_CANONICAL", `${path} is not written as canonical JSON`);
  }
  return value;
}

/** The error for a bundle without its report; a ledger in its place tells of a run that was not finished. */
export function reportMissing(path: string, cause: unknown): RunnerError {
  const dir = dirname(path);
  if (existsSync(join(dir, BUNDLE.ledger))) {
    return new RunnerError(
      "integrity",
      "REPORT_MISSING",
      `${path} does not exist: the run in ${dir} was not finished`,
      {
        hint: `Finish it with \`runner resume ${dir}\`, or the folder above it where it holds control and treatment.`,
        cause,
      },
    );
  }
  return new RunnerError("integrity", "REPORT_MISSING", `${path} does not exist`, {
    hint: "Name a run's bundle, the folder that holds control and treatment, or a comparison file.",
    cause,
  });
}
