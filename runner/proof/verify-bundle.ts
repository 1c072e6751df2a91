import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import type { Digest } from "../base/digest.ts";
import { digestFile } from "../base/digest.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import type { Json } from "../base/json.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readAnchoredReport } from "../evidence/anchor.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { listObjects, readableStore } from "../evidence/store.ts";
import { fileProblems } from "./bundle-files.ts";
import { manifestSchema, type ProofReport, proofReportSchema } from "./bundle-schema.ts";
import { cautions } from "./cautions.ts";
import { parseConfig, rolesOf } from "./config.ts";
import { parseData, selectRows } from "./data.ts";
import { makeExports } from "./exports.ts";
import { type Judged, judgedOf } from "./judged.ts";
import { type Manifest, runIdOf } from "./manifest.ts";
import { pretty } from "./output-folder.ts";
import type { Prompt, PromptName } from "./prompts.ts";
import { callBudget, type Protocol, type Unit, unitsOf } from "./protocol.ts";
import { rederive } from "./rederive.ts";
import { EXPORTS, FILES, promptsOf } from "./request.ts";
import { compact } from "./results-writer.ts";
import { summarize } from "./summary.ts";
import { makeTally } from "./tally.ts";
import { type Row, SPLITS } from "./terms.ts";

/** What a check found. An empty list of problems means that every derivation gave the same bytes again. */
export interface BundleCheck {
  readonly problems: readonly string[];
  readonly records: number;
  readonly replies: number;
}

/** Largest object that is read whole, in bytes. */
const LARGEST = 256 * 1024 * 1024;

/** True for the root document of a bundle that {@link verifyProofBundle} checks. */
export function isProofReport(report: Json): boolean {
  return typeof report === "object" && report !== null && "kind" in report && report.kind === "proof";
}

/**
 * Checks a proof-benchmark bundle against its anchor and derives everything again from the raw replies, the data and the prompts in its
 * store: records, results, summary, call totals and exports.
 * @throws RunnerError when the root document is not the anchored one or cannot be read.
 */
export async function verifyProofBundle(dir: string, anchor: string): Promise<BundleCheck> {
  const path = join(dir, FILES.report);
  const report = parseInput(proofReportSchema, await readAnchoredReport(path, anchor), path);
  const problems = await fileProblems(dir, report);
  // What follows reads the listed files, so it has a meaning only when they are the listed ones.
  if (problems.length > 0) return { problems, records: 0, replies: 0 };
  try {
    return await derive(dir, report);
  } catch (thrown) {
    if (!(thrown instanceof RunnerError)) throw thrown;
    return { problems: [messageOf(thrown)], records: 0, replies: 0 };
  }
}

async function derive(dir: string, report: ProofReport): Promise<BundleCheck> {
  const problems: string[] = [];
  const same = (what: string, found: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(found, expected)) problems.push(`${what}: differs from what the evidence gives`);
  };
  const store = readableStore(dir);
  const manifestPath = join(dir, FILES.manifest);
  const raw = parseStrictJson(await readFile(manifestPath), { source: manifestPath });
  parseInput(manifestSchema, raw, manifestPath);
  const manifest = raw as unknown as Manifest;
  const { run_id: runId, ...identity } = manifest;
  const { task, settings, analysis } = manifest;
  same("manifest.json: run_id", runId, runIdOf(identity));
  same("report.json: runId", report.runId, runId);
  same("report.json: task", report.task, task);
  same("report.json: modelSource", report.modelSource, manifest.model_source);
  same("report.json: source", `sha256:${manifest.code_sha256}`, report.source.digest);
  same("report.json: data", report.data.digest, `sha256:${manifest.data_sha256}`);

  const source = `data object ${report.data.digest}`;
  const rows = selectRows(
    parseData(await store.readAll(report.data, LARGEST), source, task),
    settings.domain,
    settings.limit,
  );
  same("manifest.json: selected_rows", manifest.selected_rows, rows.length);
  const prompts: Partial<Record<PromptName, Prompt>> = {};
  for (const name of promptsOf(task, settings.meta)) {
    const ref = report.prompts[name];
    if (ref === undefined)
      throw new RunnerError("integrity", "PROMPT_ABSENT", `report.json: the ${name} prompt is missing`);
    same(`report.json: ${name} prompt`, ref.digest, `sha256:${manifest.prompt_sha256[name]}`);
    prompts[name] = { text: (await store.readAll(ref, LARGEST)).toString("utf8"), sha256: ref.digest };
  }
  const config = parseConfig(manifest.config, manifestPath, rolesOf(task, settings.meta));
  const protocol: Protocol = { task, runId, config, settings, prompts };
  const units = unitsOf(rows, settings.samples);
  same("report.json: files", listedPaths(report), expectedPaths(units, report));

  const tally = makeTally(config, report.modelSource !== "live");
  const judged: Judged[] = [];
  const used = new Set<Digest>([report.data.digest, ...Object.values(report.prompts).map(({ digest }) => digest)]);
  let replies = 0;
  for (const unit of units) {
    const result = await rederive(dir, protocol, unit, (ref: ObjectRef) => store.readAll(ref, LARGEST));
    if ("problem" in result) {
      problems.push(result.problem);
      continue;
    }
    for (const { digest } of result.raw) used.add(digest);
    replies += result.raw.length;
    judged.push(judgedOf(result.record));
    tally.addRecord(result.record);
  }
  if (problems.length > 0) return { problems, records: judged.length, replies };

  const calls = tally.result();
  const summary = { ...summarize(task, rows, judged, settings, analysis), run_id: runId };
  const file = async (name: string): Promise<string> => readFile(join(dir, name), "utf8");
  same(FILES.summary, await file(FILES.summary), pretty(summary));
  same(FILES.budget, await file(FILES.budget), pretty(callBudget(task, rows.length, settings)));
  same(FILES.results, await digestFile(join(dir, FILES.results)), resultsDigest(dir, units));
  same("report.json: calls", report.calls, JSON.parse(JSON.stringify(calls)));
  const metrics = Object.fromEntries(SPLITS.map((split) => [split, summary.splits[split].metrics]));
  same("report.json: metrics", report.metrics, JSON.parse(JSON.stringify(metrics)));
  const retries = Object.values(calls).reduce((sum, role) => sum + role.transport_retries, 0);
  const notes = cautions(task, report.modelSource, retries);
  same("report.json: cautions", report.cautions, notes);
  problems.push(...(await exportProblems(dir, report, { rows, manifest, judged, summary, calls, notes })));
  const stored = await listObjects(dir);
  for (const stray of stored.strays) problems.push(`${stray}: is no object`);
  for (const digest of stored.digests) if (!used.has(digest)) problems.push(`object ${digest}: nothing refers to it`);
  return { problems, records: judged.length, replies };
}

interface Derived {
  readonly rows: readonly Row[];
  readonly manifest: Manifest;
  readonly judged: readonly Judged[];
  readonly summary: Parameters<typeof makeExports>[1]["summary"];
  readonly calls: Parameters<typeof makeExports>[1]["calls"];
  readonly notes: readonly string[];
}

/** Exports made again; a workbook is compressed with the time of its making, so only its digest is checked. */
async function exportProblems(dir: string, report: ProofReport, derived: Derived): Promise<string[]> {
  const { rows, manifest, judged, summary, calls, notes } = derived;
  const run = { rows, manifest, modelSource: report.modelSource };
  const forms = EXPORTS.filter((form) => form !== "xlsx");
  const again = await makeExports(forms, { run, summary, calls, judged, cautions: notes });
  const problems: string[] = [];
  for (const path of listedPaths(report)) {
    if (!path.startsWith(`${FILES.exports}/`)) continue;
    const content = again.get(path.slice(FILES.exports.length + 1));
    if (content !== undefined && (await readFile(join(dir, path), "utf8")) !== content) {
      problems.push(`${path}: differs from what the evidence gives`);
    }
  }
  return problems;
}

function resultsDigest(dir: string, units: readonly Unit[]): Digest {
  const hash = createHash("sha256");
  for (const { key } of units) hash.update(`${compact(dir, key)}\n`);
  return `sha256:${hash.digest("hex")}`;
}

function listedPaths(report: ProofReport): string[] {
  return report.files.map(({ path }) => path).sort();
}

function expectedPaths(units: readonly Unit[], report: ProofReport): string[] {
  const fixed = [FILES.manifest, FILES.budget, FILES.summary, FILES.results, FILES.ledger];
  const exported = listedPaths(report).filter((path) => path.startsWith(`${FILES.exports}/`));
  return [...fixed, ...units.map(({ key }) => `${FILES.records}/${key}.json`), ...exported].sort();
}
