import { lstat, stat } from "node:fs/promises";
import { join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { isDigest } from "../base/digest.ts";
import { pairReasons } from "./compare-bindings.ts";
import { derive, type Side } from "./compare-derive.ts";
import type { Comparison, RefusedComparison } from "./comparison.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import { pairFileReasons } from "./pair-file.ts";
import { inspectBundle } from "./verify-bundle.ts";
import type { VerifiedRun } from "./verify-run.ts";

/** What is compared, and against which anchors. */
export interface CompareRequest {
  /** The two bundles, or the folder that holds them as `control` and `treatment`. */
  readonly folders: readonly [control: string, treatment: string] | readonly [parent: string];
  /** Anchors as given; undefined where none was. */
  readonly anchors: { readonly control: string | undefined; readonly treatment: string | undefined };
}

/** A comparison, and the two runs that it is about; null when it was refused. */
export interface ComparedPairOfRuns {
  readonly comparison: Comparison;
  readonly runs: Readonly<Record<Condition, VerifiedRun>> | null;
}

/**
 * Compares two runs. Both bundles are recomputed from their bytes against their anchors; nothing of an editable summary is used. Whatever
 * stands against the comparison is listed, all of it, and then there are no figures. The same bytes give the same comparison. `program` is
 * the file of the worker's program; without it this thread does all the work.
 */
export async function compareBundles(
  request: CompareRequest,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<Comparison> {
  return (await compareRuns(request, signal, program)).comparison;
}

/** {@link compareBundles}, with the runs as they came out again. */
export async function compareRuns(
  request: CompareRequest,
  signal: AbortSignal,
  program: URL | null = null,
): Promise<ComparedPairOfRuns> {
  const reasons: string[] = [];
  const folders = await resolveFolders(request.folders, reasons);
  const sides: Partial<Record<Condition, Side>> = {};
  for (const side of CONDITIONS) {
    const anchor = request.anchors[side];
    const problem = anchorProblem(side, anchor);
    const dir = folders[side];
    if (problem !== null) reasons.push(problem);
    if (problem !== null || dir === null || anchor === undefined) continue;
    const { run, verification } = await inspectBundle(dir, anchor, signal, program);
    for (const reason of verification.reasons) reasons.push(`${side}: ${reason}`);
    if (run !== null) sides[side] = { run, verification };
    else if (verification.reasons.length === 0)
      reasons.push(`${side}: the bundle is of kind ${verification.kind}, not a run`);
  }
  const { control, treatment } = sides;
  if (request.anchors.control !== undefined && request.anchors.control === request.anchors.treatment)
    reasons.push("anchors: both are the same, so there is one run and nothing to compare it with");
  if (control !== undefined && treatment !== undefined) {
    reasons.push(...pairReasons(control.run, treatment.run));
    reasons.push(...(await parentReasons(request, control, treatment)));
  }
  if (reasons.length > 0 || control === undefined || treatment === undefined)
    return { comparison: refused(request, reasons), runs: null };
  const made = derive(control, treatment, { control: request.anchors.control, treatment: request.anchors.treatment });
  return "valid" in made
    ? { comparison: made, runs: { control: control.run, treatment: treatment.run } }
    : { comparison: refused(request, made.reasons), runs: null };
}

/** The folder of both runs says which two belong together; of two folders that are named one by one the operator says it. */
async function parentReasons({ folders, anchors }: CompareRequest, control: Side, treatment: Side): Promise<string[]> {
  const [parent, second] = folders;
  const { control: c, treatment: t } = anchors;
  if (second !== undefined || !isDigest(c) || !isDigest(t)) return [];
  return pairFileReasons(parent, {
    control: { condition: "control", anchor: c, report: control.run.report },
    treatment: { condition: "treatment", anchor: t, report: treatment.run.report },
  });
}

/** The bytes of a comparison's file: canonical JSON, the same for the same bundles. */
export function comparisonBytes(comparison: Comparison): Buffer {
  return canonicalBytes(comparison);
}

function refused({ anchors }: CompareRequest, reasons: readonly string[]): RefusedComparison {
  return {
    schemaVersion: "1",
    kind: "comparison",
    valid: false,
    verdict: "invalid",
    reasons: [...new Set(reasons)],
    causalClaimAuthorized: false,
    anchors: { control: anchors.control ?? null, treatment: anchors.treatment ?? null },
  };
}

function anchorProblem(side: Condition, anchor: string | undefined): string | null {
  if (anchor === undefined)
    return `${side}: its anchor is missing: pass --${side}-report-sha256 with the report_sha256 line that the run printed`;
  return isDigest(anchor)
    ? null
    : `${side}: its anchor is malformed: expected sha256:<64 hex>, got ${JSON.stringify(anchor)}`;
}

async function resolveFolders(
  folders: CompareRequest["folders"],
  reasons: string[],
): Promise<Record<Condition, string | null>> {
  const [first, second] = folders;
  const resolved = { control: first, treatment: second ?? "" };
  if (second === undefined) {
    resolved.control = join(first, "control");
    resolved.treatment = join(first, "treatment");
  }
  const found: Record<Condition, string | null> = { control: null, treatment: null };
  for (const side of CONDITIONS) {
    const dir = resolved[side];
    // What the operator names may be a link; what lies in the folder of both runs may not.
    const info = await (second === undefined ? lstat(dir) : stat(dir)).catch(() => null);
    if (info?.isDirectory() === true) found[side] = dir;
    else if (info?.isSymbolicLink() === true) reasons.push(`${side}: ${dir} is a symbolic link`);
    else reasons.push(`${side}: ${dir} is not a folder`);
  }
  return found;
}
