import { readFile, rename } from "node:fs/promises";
import { join, resolve, sep } from "node:path";
import { type Digest, digestBytes } from "../base/digest.ts";
import { writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { appendAnchor, readOperatorLedger } from "../evidence/operator-ledger.ts";
import { requireOutsideBundles } from "../evidence/outside-bundle.ts";
import { isSignatureOf, signBytes, signReport } from "../evidence/signature.ts";
import { readableStore } from "../evidence/store.ts";
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

/** A sealed run whose anchor is kept. */
export type Kept = Pick<SealedRun, "dir" | "condition" | "anchor"> & {
  readonly report: Pick<RunReport, "runId" | "studyId" | "earlier">;
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

/**
 * Appends anchors to the operator's ledger and signs reports, each beside its bundle as `<bundle>.report.sig`. Doing it again changes
 * nothing, and puts right what a process left that was killed after it had sealed.
 */
export async function keepAnchors(runs: readonly Kept[], { ledger, key }: Keepers, io: CommandIo): Promise<void> {
  for (const kept of runs) {
    const { dir, condition, anchor, report } = kept;
    const { runId, studyId } = report;
    if (ledger !== null) {
      const known = await latestIn(ledger, runId, condition);
      const appended = await appendAnchor(ledger, {
        runId,
        condition,
        studyId,
        reportSha256: anchor,
        // The run's earlier anchors may not all have been appended; the latest that was is the one that this replaces.
        supersedes: report.earlier?.find(({ digest }) => digest === known)?.digest ?? null,
        recordedAt: new Date().toISOString(),
      });
      const { head } = await readOperatorLedger(ledger);
      io.say(
        `ledger ${ledger}: anchor of ${condition} ${appended ? "appended; its last line is now" : "is there; its last line is"} ${head}`,
      );
    }
    const path = `${dir}.report.sig`;
    await putAside(path, kept, io);
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

/**
 * A signature of a report that was superseded keeps its bytes under the old anchor's name, and one of no report of the run under its own
 * digest: what lies at `path` afterwards is a signature of the present report, or nothing.
 */
async function putAside(path: string, { dir, report }: Kept, io: CommandIo): Promise<void> {
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT")) return null;
    throw cause;
  });
  if (bytes === null || (await isSignatureOf(await readFile(join(dir, BUNDLE.report)), path))) return;
  const store = readableStore(dir);
  let signed: Digest | null = null;
  for (const ref of report.earlier ?? []) if (await isSignatureOf(await store.readAll(ref), path)) signed = ref.digest;
  const name = (signed ?? digestBytes(bytes)).slice("sha256:".length, "sha256:".length + 16);
  const aside = path.replace(/\.sig$/, `.${name}.sig`);
  await rename(path, aside);
  io.say(`signature of ${signed === null ? "another" : "the superseded"} report: ${aside}`);
}
