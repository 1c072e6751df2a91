import { readFile } from "node:fs/promises";
import { canonicalBytes } from "../base/canonical-json.ts";
import { digestBytes, digestJson, isDigest } from "../base/digest.ts";
import { hasCode, messageOf, RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { unknown } from "../base/unknown.ts";
import type { ReportModel, Side, SideFacts, Source } from "../report/model.ts";
import { analysePairs } from "../stats/analysis.ts";
import type { PlannedPair } from "../stats/pairs.ts";
import type { ComparedPair, ComparedRun, ComparedTrial, Comparison, ValidComparison } from "./comparison.ts";
import { reportRefused } from "./report-bundle.ts";
import { cautionsOf, countingRules, studyFacts } from "./report-facts.ts";
import { pairedPart, pairedTask } from "./report-paired.ts";
import { taskLines } from "./report-trials.ts";

/** A comparison as a file holds it, and its digest. */
export interface ComparisonFile {
  readonly comparison: Comparison;
  readonly sha256: string;
  readonly heldAgainstAnchor: boolean;
}

const MAX_BYTES = 256 * 1024 * 1024;

/**
 * Reads a comparison file: its bytes against the digest where one is given, canonical form, and the primary result again from the file's own
 * pairs, so that an edited figure is refused.
 * @throws RunnerError `COMPARISON_UNREADABLE`, `ANCHOR_MALFORMED`, `COMPARISON_CHANGED`, `JSON_INVALID`, `NOT_A_COMPARISON`.
 */
export async function readComparison(path: string, anchor: string | undefined): Promise<ComparisonFile> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    const problem = hasCode(cause, "ENOENT") ? "does not exist" : messageOf(cause);
    throw new RunnerError("input", "COMPARISON_UNREADABLE", `the comparison ${path} ${problem}`, { cause });
  }
  const sha256 = digestBytes(bytes);
  if (anchor !== undefined && !isDigest(anchor)) {
    throw new RunnerError(
      "usage",
      "ANCHOR_MALFORMED",
      `expected a digest of the form sha256:<64 hex>, got ${JSON.stringify(anchor)}`,
    );
  }
  if (anchor !== undefined && anchor !== sha256) {
    throw new RunnerError("integrity", "COMPARISON_CHANGED", `${path} has digest ${sha256}, ${anchor} was expected`, {
      hint: "Run `runner compare` again on the two bundles with their anchors.",
    });
  }
  const value = parseStrictJson(bytes, { source: path, maxBytes: MAX_BYTES });
  if (!isObject(value) || value.kind !== "comparison" || typeof value.valid !== "boolean") {
    const kind = isObject(value) ? JSON.stringify(value.kind ?? null) : "no object";
    throw notAComparison(path, `its kind is ${kind}`);
  }
  const text = bytes.at(-1) === 10 ? bytes.subarray(0, -1) : bytes;
  if (!canonicalBytes(value).equals(text)) throw notAComparison(path, "it is not written as canonical JSON");
  const comparison = value as unknown as Comparison;
  try {
    if (comparison.valid) requireOwnFigures(comparison);
  } catch (thrown) {
    throw notAComparison(path, messageOf(thrown));
  }
  return { comparison, sha256, heldAgainstAnchor: anchor !== undefined };
}

/** @throws Error when the primary result does not come out again from the pairs. */
function requireOwnFigures({ primary, pairs, verdict }: ValidComparison): void {
  const again = analysePairs(pairs.map(plannedPair), primary.analysis.plan);
  if (digestJson(again) !== digestJson(primary.analysis) || again.verdict !== verdict) {
    throw new Error("its primary result does not come out again from its own pairs");
  }
}

function plannedPair({ task, repetition, control, treatment }: ComparedPair): PlannedPair {
  return { task, repetition, control: scoreOf(control), treatment: scoreOf(treatment) };
}

function scoreOf({ reward, outcome }: ComparedTrial): PlannedPair["control"] {
  return reward ?? unknown("missing", outcome);
}

function notAComparison(path: string, why: string): RunnerError {
  return new RunnerError("input", "NOT_A_COMPARISON", `${path} is no comparison that can be reported: ${why}`, {
    hint: "Name a file that `runner compare --out` wrote, or the folder of the bundles.",
  });
}

/**
 * The report of a comparison file alone.
 * @throws RunnerError `REPORT_REFUSED` when the comparison itself was refused, `NOT_A_COMPARISON` when a part of it is not there.
 */
export function comparisonModel(path: string, file: ComparisonFile): ReportModel {
  try {
    return modelOf(file);
  } catch (thrown) {
    if (thrown instanceof RunnerError) throw thrown;
    throw notAComparison(path, messageOf(thrown));
  }
}

function modelOf({ comparison, sha256, heldAgainstAnchor }: ComparisonFile): ReportModel {
  if (!comparison.valid) {
    throw reportRefused("the comparison", comparison.reasons, "Report each bundle on its own, or mend what is named.");
  }
  const { study: bound, control, treatment, pairs } = comparison;
  const study = studyFacts(bound, comparison.order, bound.modelSource, bound.plan);
  const sources: Source[] = [
    { name: "comparison", sha256, heldAgainstAnchor, checked: "the primary result, from the file's own pairs" },
    ...(
      [
        ["control", control],
        ["treatment", treatment],
      ] as const
    ).map(([name, run]) => ({
      name: `${name} as compared`,
      sha256: run.reportSha256,
      heldAgainstAnchor,
      checked: "by the comparison, not here",
    })),
  ];
  const trials = pairs.flatMap(({ task, control: first, treatment: second }) => [
    { task, side: "control" as const, outcome: first.outcome, reward: first.reward },
    { task, side: "treatment" as const, outcome: second.outcome, reward: second.reward },
  ]);
  const unscored = trials.filter(({ reward }) => reward === null).length;
  return {
    schemaVersion: "1",
    kind: "report",
    subject: "comparison",
    study,
    sources,
    cautions: cautionsOf(study, sources, unscored),
    rules: countingRules(true),
    sides: [sideOf("control", control), sideOf("treatment", treatment)],
    tasks: taskLines(trials, ["control", "treatment"]).map((line) => ({
      ...line,
      paired: pairedTask(comparison, line.task),
    })),
    trials: [],
    attempts: [],
    paired: pairedPart(comparison),
    timelines: [],
    timelinesLeftOut: null,
    reviews: [],
  };
}

function sideOf(side: Side, run: ComparedRun): SideFacts {
  const { runId, order, startedAt, finishedAt, superseded, cutOff, tally } = run;
  const { planned, scored, outcomes } = tally;
  return { side, runId, order, startedAt, finishedAt, planned, scored, superseded, cutOff, outcomes };
}
