import { lstat, open } from "node:fs/promises";
import { dirname } from "node:path";
import { z } from "zod";
import type { Digest } from "../base/digest.ts";
import { syncDirectory } from "../base/durable.ts";
import { RunnerError } from "../base/errors.ts";
import { parseInput } from "../base/zod-input.ts";
import { lockFile } from "./file-lock.ts";
import { openLedger, readLedger } from "./ledger.ts";
import { digestSchema } from "./object-ref.ts";
import { requireOutsideBundles } from "./outside-bundle.ts";

const entrySchema = z.strictObject({
  type: z.literal("anchor"),
  runId: z.string().min(1),
  condition: z.enum(["control", "treatment"]),
  studyId: z.string().min(1),
  reportSha256: digestSchema,
  /** The anchor that this one replaces, after a resume. */
  supersedes: digestSchema.nullable(),
  /** Wall-clock label. */
  recordedAt: z.string(),
});

/** One anchor in the operator's ledger. */
export type AnchorEntry = Omit<z.infer<typeof entrySchema>, "type">;

/** A ledger's anchors and the digest of its last line: keep the head elsewhere, and cutting lines off is seen too. */
export interface OperatorLedger {
  readonly anchors: readonly AnchorEntry[];
  readonly head: Digest | null;
}

/**
 * Appends an anchor to the operator's ledger: a JSON-lines file outside of every bundle, each line with the digest of the line before.
 * Appends of several processes are written one after the other, each durable before the call returns. False: the run's latest anchor is
 * this one already.
 * @throws RunnerError `INSIDE_BUNDLE`, `NO_SUCH_FOLDER`, `NOT_A_FILE`, `LEDGER_BROKEN`, `ANCHOR_NOT_LATEST` when another anchor than the one
 * superseded is the run's latest, `LOCK_BUSY`, `LOCK_TOOL`.
 */
export async function appendAnchor(path: string, entry: AnchorEntry): Promise<boolean> {
  const real = await requireOutsideBundles(path, "the operator's ledger");
  const event = parseInput(entrySchema, { type: "anchor", ...entry }, "the anchor");
  await (await open(real, "a", 0o644)).close();
  await using _lock = await lockFile(real);
  const latest = latestOf((await readOperatorLedger(real)).anchors, event.runId, event.condition);
  if (latest !== null && latest.reportSha256 === event.reportSha256) return false;
  if ((latest?.reportSha256 ?? null) !== event.supersedes) {
    throw new RunnerError(
      "integrity",
      "ANCHOR_NOT_LATEST",
      `${real}: the latest anchor of run ${event.runId}, ${event.condition}, is ${latest?.reportSha256 ?? "none"}, and the new one supersedes ${event.supersedes ?? "none"}`,
      { hint: "An anchor of a resumed run names the one it replaces; a new run has a run id of its own." },
    );
  }
  await using ledger = await openLedger(real);
  await ledger.append(event);
  await syncDirectory(dirname(real));
  return true;
}

/**
 * Reads an operator's ledger whole; every line must follow the one before.
 * @throws RunnerError `LEDGER_MISSING`, `LEDGER_BROKEN`, `JSON_INVALID`, `INPUT_INVALID`, and those of the path.
 */
export async function readOperatorLedger(path: string): Promise<OperatorLedger> {
  const real = await requireOutsideBundles(path, "the operator's ledger");
  if (!(await exists(real))) {
    throw new RunnerError("input", "LEDGER_MISSING", `the operator's ledger ${real} does not exist`, {
      hint: "Name the ledger that anchors were appended to.",
    });
  }
  const { lines, head } = await readLedger(real);
  const anchors = lines.map(({ event }, index) => {
    const { type: _, ...entry } = parseInput(entrySchema, event, `${real}, line ${index + 1}`);
    return entry;
  });
  return { anchors, head };
}

/**
 * The latest anchor of a run's condition.
 * @throws RunnerError `ANCHOR_UNKNOWN` when the ledger has none.
 */
export async function findAnchor(path: string, runId: string, condition: AnchorEntry["condition"]): Promise<Digest> {
  const latest = latestOf((await readOperatorLedger(path)).anchors, runId, condition);
  if (latest !== null) return latest.reportSha256;
  throw new RunnerError("input", "ANCHOR_UNKNOWN", `${path} has no anchor of run ${runId}, ${condition}`, {
    hint: "Name the ledger that the run's anchor was appended to, or pass the anchor itself.",
  });
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null)) !== null;
}

function latestOf(anchors: readonly AnchorEntry[], runId: string, condition: string): AnchorEntry | null {
  return anchors.findLast((entry) => entry.runId === runId && entry.condition === condition) ?? null;
}
