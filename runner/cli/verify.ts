import { join, resolve } from "node:path";
import { readAnchoredReport } from "../evidence/anchor.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { isProofReport, verifyProofBundle } from "../proof/verify-bundle.ts";
import { verifyBundle } from "../study/verify-bundle.ts";
import type { Run } from "./command.ts";
import type { OPTIONS } from "./commands.ts";

/** What is printed for either kind of bundle. */
interface Result {
  readonly valid: boolean;
  readonly kind: string;
  readonly reasons: readonly string[];
  readonly [count: string]: unknown;
}

export const run: Run<typeof OPTIONS.verify> = async ({ reportSha256, json }, [folder = ""], io) => {
  const dir = resolve(io.cwd, folder);
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

/** Verifies a bundle of the proof benchmarks; null for any other, and for one whose report cannot be read. */
async function verifyProof(dir: string, anchor: string): Promise<Result | null> {
  const report = await readAnchoredReport(join(dir, BUNDLE.report), anchor).catch(() => null);
  if (report === null || !isProofReport(report)) return null;
  const { problems, records, replies } = await verifyProofBundle(dir, anchor);
  return { valid: problems.length === 0, kind: "proof benchmark", reasons: problems, records, replies };
}
