import { readFile, stat } from "node:fs/promises";
import { arch, cpus, platform, totalmem } from "node:os";
import { join } from "node:path";
import { type Digest, digestFile } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { writeReport } from "../evidence/anchor.ts";
import type { Ledger } from "../evidence/ledger.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { cautions } from "./cautions.ts";
import { writeExports } from "./exports.ts";
import type { Judged } from "./judged.ts";
import type { EvaluatorSource } from "./project.ts";
import type { FileRef } from "./record-keeper.ts";
import { FILES, type PreparedRun } from "./request.ts";
import type { RunSummary } from "./results.ts";
import type { SecretGuard } from "./secret-guard.ts";
import type { RoleTally } from "./tally.ts";
import { type Role, SPLITS } from "./terms.ts";

/** A sealed bundle. */
export interface Sealed {
  readonly anchor: Digest;
  readonly path: string;
}

export interface SealInput {
  readonly run: PreparedRun;
  readonly source: EvaluatorSource;
  readonly wall: () => string;
  readonly ledger: Ledger;
  readonly store: ObjectStore;
  readonly summary: RunSummary;
  readonly calls: Partial<Record<Role, RoleTally>>;
  readonly judged: ReadonlyMap<string, Judged>;
  readonly guard: SecretGuard;
  /** `results.jsonl` and the records, as they were written. */
  readonly written: readonly FileRef[];
  /** Settles when everything that was written without a flush of its own is durable. */
  readonly flushed: Promise<void>;
}

/**
 * Exports the results and writes the root document that binds every file of the bundle by its digest: data and prompts, manifest, records
 * with the digests of their raw replies, summary and exports.
 * @throws RunnerError `SECRET_LEAKED` when a key is found in a file.
 */
export async function sealRun(input: SealInput): Promise<Sealed> {
  const { run, summary, calls } = input;
  const { request } = run;
  const retries = Object.values(calls).reduce((sum, tally) => sum + tally.transport_retries, 0);
  const notes = cautions(request.task, run.modelSource, retries);
  // In the order of the data, since calls complete in any order.
  const judged = run.units.flatMap(({ key }) => input.judged.get(key) ?? []);
  const exported = await writeExports(request.output, request.exports, {
    run,
    summary,
    calls,
    judged,
    cautions: notes,
  });
  await input.ledger.append({ type: "complete", at: input.wall(), records: input.judged.size });
  const data = await input.store.put(await readFile(request.data));
  if (data.digest !== run.data.sha256) throw changed(request.data);
  const prompts: Record<string, ObjectRef> = {};
  for (const [name, prompt] of Object.entries(run.protocol.prompts)) prompts[name] = await input.store.put(prompt.text);
  await input.store.sync();
  const fromDisk = async (path: string): Promise<FileRef> => {
    const full = join(request.output, path);
    await input.guard.file(full);
    return { path, digest: await digestFile(full), size: (await stat(full)).size };
  };
  const files = [
    ...(await Promise.all([FILES.manifest, FILES.budget, FILES.summary, FILES.ledger].map(fromDisk))),
    ...input.written,
    ...(await Promise.all(exported.map((name) => fromDisk(`${FILES.exports}/${name}`)))),
  ];
  await input.flushed;
  const report = {
    schemaVersion: "1",
    kind: "proof",
    task: request.task,
    runId: run.manifest.run_id,
    modelSource: run.modelSource,
    causalClaimAuthorized: false,
    cautions: notes,
    metrics: Object.fromEntries(SPLITS.map((split) => [split, summary.splits[split].metrics])),
    calls,
    data,
    prompts,
    source: input.source,
    host: hostFacts(),
    files,
    finishedAt: input.wall(),
  };
  const path = join(request.output, FILES.report);
  return { anchor: await writeReport(path, JSON.parse(JSON.stringify(report))), path };
}

function hostFacts(): Record<string, string | number> {
  return {
    node: process.version,
    platform: platform(),
    arch: arch(),
    cpus: cpus().length,
    cpuModel: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
  };
}

function changed(path: string): RunnerError {
  return new RunnerError("integrity", "DATA_CHANGED", `${path} was changed while the run was under way`, {
    hint: "Put the file back as it was and run again with --resume.",
  });
}
