import { rename } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import type { Digest } from "../base/digest.ts";
import { writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { appendAnchor, readOperatorLedger } from "../evidence/operator-ledger.ts";
import { requireOutsideBundles } from "../evidence/outside-bundle.ts";
import { signBytes, signReport } from "../evidence/signature.ts";
import type { RunReport } from "../study/run-report.ts";
import type { SealedRun } from "../study/seal-run.ts";
import type { CommandIo } from "./command.ts";

/** Where a run's anchors go beside the terminal. */
export interface Keepers {
  /** The operator's ledger, absolute. */
  readonly ledger: string | null;
  /** The SSH key that signs the reports. */
  readonly key: string | null;
}

/** A sealed run whose anchor is kept; null: it supersedes none. */
export type Kept = Pick<SealedRun, "dir" | "condition" | "anchor"> & {
  readonly report: Pick<RunReport, "runId" | "studyId" | "earlier">;
  readonly supersedes: Digest | null;
};

/**
 * Holds the ledger and the key against what they are needed for before anything runs: a run must not end with an anchor that nobody keeps.
 * @throws RunnerError `INSIDE_BUNDLE`, `NO_SUCH_FOLDER`, `NOT_A_FILE`, `LEDGER_BROKEN`, and those of signing.
 */
export async function requireKeepers(
  { ledger, sign }: { readonly ledger: string | undefined; readonly sign: string | undefined },
  out: string,
  cwd: string,
): Promise<Keepers> {
  const keepers = {
    ledger: ledger === undefined ? null : resolve(cwd, ledger),
    key: sign === undefined ? null : resolve(cwd, sign),
  };
  if (keepers.ledger !== null) {
    const real = await requireOutsideBundles(keepers.ledger, "the operator's ledger");
    if (`${real}${sep}`.startsWith(`${out}${sep}`)) {
      throw new RunnerError(
        "refused",
        "INSIDE_BUNDLE",
        `the operator's ledger ${real} lies inside the run's folder ${out}`,
        {
          hint: "Name a path outside of every bundle: evidence cannot vouch for itself.",
        },
      );
    }
    await readOperatorLedger(real).catch((thrown: unknown) => {
      if (!(thrown instanceof RunnerError) || thrown.code !== "LEDGER_MISSING") throw thrown;
    });
  }
  if (keepers.key !== null) await signBytes(Buffer.from("a run's report will be signed"), keepers.key);
  return keepers;
}

/** Appends anchors to the operator's ledger and signs reports, each beside its bundle as `<bundle>.report.sig`. */
export async function keepAnchors(runs: readonly Kept[], { ledger, key }: Keepers, io: CommandIo): Promise<void> {
  for (const { dir, condition, anchor, report, supersedes } of runs) {
    const { runId, studyId } = report;
    if (ledger !== null) {
      const known = await latestIn(ledger, runId, condition);
      await appendAnchor(ledger, {
        runId,
        condition,
        studyId,
        reportSha256: anchor,
        // The run's earlier anchors may not all have been appended; the latest that was is the one that this replaces.
        supersedes: report.earlier?.find(({ digest }) => digest === known)?.digest ?? null,
        recordedAt: new Date().toISOString(),
      });
      const { head } = await readOperatorLedger(ledger);
      io.say(`ledger ${ledger}: anchor of ${condition} appended; its last line is now ${head}`);
    }
    const path = `${dir}.report.sig`;
    const stale = await putAside(path, supersedes, anchor);
    if (stale !== null) io.say(`signature of the superseded report: ${stale}`);
    if (key !== null) {
      await writeDurably(path, await signReport(join(dir, BUNDLE.report), key));
      io.say(`signature ${path}`);
    }
  }
}

async function latestIn(ledger: string, runId: string, condition: string): Promise<Digest | null> {
  const { anchors } = await readOperatorLedger(ledger).catch((thrown: unknown) => {
    if (thrown instanceof RunnerError && thrown.code === "LEDGER_MISSING") return { anchors: [] };
    throw thrown;
  });
  return anchors.findLast((entry) => entry.runId === runId && entry.condition === condition)?.reportSha256 ?? null;
}

/** A signature of a report that was superseded keeps its bytes under the old anchor's name. */
async function putAside(path: string, supersedes: Digest | null, anchor: Digest): Promise<string | null> {
  if (supersedes === null || supersedes === anchor) return null;
  const aside = path.replace(/\.sig$/, `.${supersedes.slice("sha256:".length, "sha256:".length + 16)}.sig`);
  try {
    await rename(path, aside);
    return aside;
  } catch (cause) {
    if (hasCode(cause, "ENOENT")) return null;
    throw cause;
  }
}
