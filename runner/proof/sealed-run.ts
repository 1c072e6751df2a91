import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readableStore } from "../evidence/store.ts";
import { listedFileProblems } from "./bundle-files.ts";
import { proofReportSchema } from "./bundle-schema.ts";
import { formsAmong } from "./exports.ts";
import { type Judged, judgedOf } from "./judged.ts";
import { readRecord } from "./output-folder.ts";
import { writeCassette } from "./record-cassette.ts";
import { FILES, type PreparedRun } from "./request.ts";
import { summaryOf } from "./results.ts";
import type { RunResult } from "./run.ts";
import { makeTally } from "./tally.ts";
import type { ProofRecord } from "./terms.ts";

/**
 * A run that has its report already is given back as it is: writing it again would make another anchor of the same results.
 * @throws RunnerError `SEALED_CHANGED` when a file is not the one that the report lists.
 */
export async function readSealedRun(run: PreparedRun, say: (line: string) => void): Promise<RunResult | null> {
  const { output } = run.request;
  const path = join(output, FILES.report);
  if (!existsSync(path)) return null;
  const bytes = await readFile(path);
  const report = parseInput(proofReportSchema, parseStrictJson(bytes, { source: path }), path);
  const [problem] = await listedFileProblems(output, report);
  if (problem !== undefined) {
    throw new RunnerError("integrity", "SEALED_CHANGED", `${output} is sealed and was changed afterwards: ${problem}`, {
      hint: "What it says cannot be trusted. Put the file back as it was, or start anew in another folder.",
    });
  }
  const forms = formsAmong(
    report.files.map((file) => file.path),
    run.request.exports,
  );
  const absent = run.request.exports.filter((form) => !forms.includes(form));
  if (absent.length > 0) {
    say(`The run is sealed, so its exports stay as they are: ${absent.join(", ")} is not among them.`);
  }
  const tally = makeTally(run.config, run.cassette !== null);
  const judged: Judged[] = [];
  let found = 0;
  for (const { key } of run.units) {
    const record = await readRecord(run, key);
    if (record === null) return null;
    judged.push(judgedOf(record));
    tally.addRecord(record);
    found += callsOf(record);
  }
  // A process that was killed right after it wrote the report may have left the log.
  await rm(join(output, FILES.calls), { force: true });
  await recordIfAsked(run);
  const sealed = { anchor: digestBytes(bytes), path };
  const [summary, calls] = [summaryOf(run, judged), tally.result()];
  return { summary, calls, sealed, forms, made: 0, found, inferenceSeconds: 0 };
}

/** Calls that a record was made of. */
export function callsOf(record: ProofRecord): number {
  const graded = record.verifier_trials.filter((trial) => trial.meta !== undefined && trial.meta.response !== null);
  return (record.policy_response === undefined ? 0 : 1) + record.verifier_trials.length + graded.length;
}

/** Writes the cassette of a complete run where `--record` asks for one. */
export async function recordIfAsked(run: PreparedRun): Promise<void> {
  const { output, record } = run.request;
  if (record !== null) await writeCassette(record, run, readableStore(output));
}
