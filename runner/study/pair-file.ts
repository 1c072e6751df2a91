import { lstat, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import type { Digest } from "../base/digest.ts";
import { writeDurably } from "../base/durable.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { digestSchema } from "../evidence/object-ref.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import type { RunReport } from "./run-report.ts";

/** Name of the document beside `control` and `treatment` that binds them to each other. */
export const PAIR = "pair.json";

const pairSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("pair"),
  runId: z.string().min(1),
  studyId: z.string().min(1),
  /** Both conditions ran in one order drawn from the seed. */
  order: z.literal("interleaved"),
  plan: digestSchema,
  /** The anchors of the two reports. */
  control: digestSchema,
  treatment: digestSchema,
});

/** What one execution of both conditions left: which two reports belong together. */
export type PairFile = z.infer<typeof pairSchema>;

/** The part of a sealed run that a pair's document binds. */
export interface PairedRun {
  readonly condition: Condition;
  readonly anchor: Digest;
  readonly report: Pick<RunReport, "runId" | "studyId" | "plan">;
}

/** Writes the document of a pair durably, unless it is there already. */
export async function writePair(parent: string, runs: readonly PairedRun[]): Promise<void> {
  const side = (condition: Condition): PairedRun => {
    const found = runs.find((run) => run.condition === condition);
    if (found === undefined) throw new Error(`a pair without ${condition}`);
    return found;
  };
  const [control, treatment] = [side("control"), side("treatment")];
  const { runId, studyId, plan } = control.report;
  const pair: PairFile = {
    schemaVersion: "1",
    kind: "pair",
    runId,
    studyId,
    order: "interleaved",
    plan: plan.digest,
    control: control.anchor,
    treatment: treatment.anchor,
  };
  const path = join(parent, PAIR);
  const bytes = canonicalBytes(pair);
  const before = await readFile(path).catch(() => null);
  if (before === null || !before.equals(bytes)) await writeDurably(path, bytes);
}

/**
 * Reads the document of a pair; null when the folder has none.
 * @throws RunnerError `NOT_A_FILE`, `JSON_INVALID`, `INPUT_INVALID`, `NOT_CANONICAL`.
 */
export async function readPair(parent: string): Promise<PairFile | null> {
  const path = join(parent, PAIR);
  try {
    if (!(await lstat(path)).isFile())
      throw new RunnerError("integrity", "NOT_A_FILE", `${path} is not a regular file`);
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return null;
    throw thrown;
  }
  const bytes = await readFile(path);
  const pair = parseInput(pairSchema, parseStrictJson(bytes, { source: path }), path);
  if (!canonicalBytes(pair).equals(bytes))
    throw new RunnerError("integrity", "NOT_CANONICAL", `${path} is not written as canonical JSON`);
  return pair;
}

/** Everything that stands against taking the two runs below a folder for the pair that its document names. */
export async function pairFileReasons(
  parent: string,
  sides: Readonly<Record<Condition, PairedRun & { readonly report: Pick<RunReport, "order"> }>>,
): Promise<string[]> {
  let pair: PairFile | null;
  try {
    pair = await readPair(parent);
  } catch (thrown) {
    return [messageOf(thrown)];
  }
  const interleaved = CONDITIONS.filter((condition) => sides[condition].report.order === "interleaved");
  if (pair === null) {
    return interleaved.length === 0
      ? []
      : [`${PAIR} is missing, and ${interleaved.join(" and ")} ran interleaved: resume the run, which writes it`];
  }
  const reasons: string[] = [];
  for (const condition of CONDITIONS) {
    const { anchor, report } = sides[condition];
    const bound: [string, unknown, unknown][] = [
      [condition, pair[condition], anchor],
      ["runId", pair.runId, report.runId],
      ["studyId", pair.studyId, report.studyId],
      ["order", pair.order, report.order],
      ["plan", pair.plan, report.plan.digest],
    ];
    for (const [name, said, found] of bound) {
      if (said !== found)
        reasons.push(`${PAIR}: ${name} is ${String(said)}, the report of ${condition} has ${String(found)}`);
    }
  }
  return reasons;
}
