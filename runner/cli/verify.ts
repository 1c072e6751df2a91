import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { isProofReport, verifyProofBundle } from "../proof/verify-bundle.ts";
import { verifyBundle } from "../study/verify-bundle.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./options.ts";

/** What is printed for either kind of bundle. */
interface Result {
  readonly valid: boolean;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly [count: string]: unknown;
}

export const run: Run<typeof OPTIONS.verify> = async ({ reportSha256, json }, [folder = ""], io) => {
  const dir = resolve(io.cwd, folder);
  await requireBundle(dir);
  const result = (await verifyProof(dir, reportSha256)) ?? (await verifyBundle(dir, reportSha256, io.signal));
  if (json) io.out(`${JSON.stringify(result)}\n`);
  else {
    const { valid, kind, reasons, ...counts } = result;
    for (const reason of reasons) io.out(`refused: ${reason}\n`);
    const counted = Object.entries(counts).map(([name, count]) => `${String(count)} ${name}`);
    io.out(
      valid
        ? `valid: ${[kind, ...counted].join(", ")}; every digest and every derived value came out again\n`
        : `INVALID: ${reasons.length} reasons\n`,
    );
  }
  return result.valid ? 0 : 1;
};

/** A name that leads to no bundle at all is a slip of the hand, and says nothing about evidence. */
async function requireBundle(dir: string): Promise<void> {
  const isFolder = (path: string): Promise<boolean> =>
    stat(path).then(
      (info) => info.isDirectory(),
      () => false,
    );
  if (!(await isFolder(dir))) {
    throw new RunnerError("usage", "NO_BUNDLE", `${dir} is not a folder`, { hint: "Name the folder of one bundle." });
  }
  const pair = [join(dir, "control"), join(dir, "treatment")];
  const lone = await stat(join(dir, BUNDLE.report)).catch(() => null);
  if (lone === null && (await Promise.all(pair.map(isFolder))).every(Boolean)) {
    throw new RunnerError("usage", "NO_BUNDLE", `${dir} holds the bundles of two conditions`, {
      hint: `Verify each with its own anchor: ${pair.join(" and ")}.`,
    });
  }
}

/** Verifies a bundle of the proof benchmarks; null for any other, and for one whose report cannot be read. */
async function verifyProof(dir: string, anchor: string): Promise<Result | null> {
  const report = await readAnchoredReport(join(dir, BUNDLE.report), anchor).catch(() => null);
  if (report === null || !isProofReport(report)) return null;
  const { problems, records, replies } = await verifyProofBundle(dir, anchor);
  return { valid: problems.length === 0, kind: "proof benchmark", reasons: problems, records, replies };
}
