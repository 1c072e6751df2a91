import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { digestBytes } from "../base/digest.ts";
import { writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { isUnknown } from "../base/unknown.ts";
import { parseInput } from "../base/zod-input.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { objectRefSchema } from "../evidence/object-ref.ts";
import { readableStore } from "../evidence/store.ts";
import { trialRecordSchema } from "../trial/record.ts";

const reportSchema = z.looseObject({
  condition: z.enum(["control", "treatment"]),
  trials: z.array(z.looseObject({ record: objectRefSchema })),
});

/** What was written, and why nothing was for the other trials. */
export interface ExportedTrajectories {
  readonly written: readonly string[];
  readonly without: readonly { readonly trial: string; readonly reason: string }[];
}

/**
 * Writes the trajectories of a bundle's trials below a folder, as `<task>__<condition>-<repetition>/agent/trajectory.json`, where Harbor's
 * tools look for them. Every object is held against its digest; the bundle as a whole is what `verify` is for.
 * @throws RunnerError `REPORT_MISSING`, `ANCHOR_MISMATCH`, or as the store does for an object that is not what its digest says.
 */
export async function exportTrajectories(
  dir: string,
  anchor: string | null,
  out: string,
): Promise<ExportedTrajectories> {
  const source = join(dir, BUNDLE.report);
  const bytes = await readFile(source).catch((cause: unknown) => {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("input", "REPORT_MISSING", `${dir} has no ${BUNDLE.report}`, {
      hint: "Name the bundle of one condition of a run that has ended.",
      cause,
    });
  });
  const found = digestBytes(bytes);
  if (anchor !== null && anchor !== found)
    throw new RunnerError("integrity", "ANCHOR_MISMATCH", `${source} is ${found}, its anchor says ${anchor}`);
  const report = parseInput(reportSchema, parseStrictJson(bytes, { source }), source);
  const store = readableStore(dir);
  const written: string[] = [];
  const without: { trial: string; reason: string }[] = [];
  for (const { record: ref } of report.trials) {
    const place = `record ${ref.digest}`;
    const record = parseInput(trialRecordSchema, parseStrictJson(await store.readAll(ref), { source: place }), place);
    const trial = `${record.task}__${record.condition}-${record.repetition}`;
    const { trajectory } = record;
    if (trajectory === undefined) without.push({ trial, reason: "its agent is driven by no model, or left no trace" });
    else if (isUnknown(trajectory)) without.push({ trial, reason: trajectory.detail ?? trajectory.unknown });
    else {
      const folder = join(out, trial, "agent");
      await mkdir(folder, { recursive: true });
      await writeDurably(join(folder, "trajectory.json"), await store.readAll(trajectory));
      written.push(join(trial, "agent", "trajectory.json"));
    }
  }
  return { written, without };
}
