import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { digestBytes } from "../base/digest.ts";
import { type BenchPlace, type BenchSize, prepareBench } from "./bench-setup.ts";
import { judgedOf } from "./judged.ts";
import { pretty, readRecord } from "./output-folder.ts";
import { buildRecord } from "./record.ts";
import { FILES, type PreparedRun, recordPath } from "./request.ts";
import { summarize } from "./summary.ts";
import type { Settings } from "./terms.ts";

/** Reading and scoring stored records. */
export interface SummaryBench {
  readonly proofs: number;
  readonly judgments: number;
  readonly resamples: number;
  readonly readSeconds: number;
  readonly scoreSeconds: number;
  readonly cpuSeconds: number;
}

/** Writes the records of a VerifierBench run with 8 judgments a proof, then reads and scores them. */
export async function benchSummary(place: BenchPlace, size: BenchSize): Promise<SummaryBench> {
  const data = join(place.folder, "proofs.jsonl");
  const lines = Array.from({ length: size.proofs }, (_, index) => {
    const wrong = index % 5 < 3;
    return JSON.stringify({
      proof_id: `proof-${index}`,
      problem_id: `problem-${Math.floor(index / 3)}`,
      problem: `Prove statement ${Math.floor(index / 3)}.`,
      domain: index < size.proofs / 5 ? "ugd" : "qe",
      steps: ["First.", "Second.", "Third."],
      annotation: { first_fatal_error_step: wrong ? index % 3 : -1, recoverable_error_steps: [-1] },
    });
  });
  await writeFile(data, `${lines.join("\n")}\n`);
  const settings: Settings = {
    samples: 1,
    verifier_repeats: 8,
    meta: true,
    domain: "all",
    limit: null,
    use_reference_solution: false,
  };
  const run = await prepareBench(place, size, { task: "verifier", data, url: "http://127.0.0.1:9/v1", settings });
  await storeRecords(run);

  const before = process.cpuUsage();
  const started = performance.now();
  const judged = [];
  for (const { key } of run.units) {
    const record = await readRecord(run, key);
    if (record !== null) judged.push(judgedOf(record));
  }
  const read = performance.now();
  summarize("verifier", run.rows, judged, settings, run.request.analysis);
  const done = performance.now();
  const cpu = process.cpuUsage(before);
  return {
    proofs: judged.length,
    judgments: judged.reduce((sum, proof) => sum + proof.judgments.length, 0),
    resamples: size.resamples,
    readSeconds: (read - started) / 1000,
    scoreSeconds: (done - read) / 1000,
    cpuSeconds: (cpu.user + cpu.system) / 1_000_000,
  };
}

/** Writes the records that a run would have stored, from replies made up here. */
async function storeRecords(run: PreparedRun): Promise<void> {
  await mkdir(join(run.request.output, FILES.records), { recursive: true });
  const answer = (content: string) => {
    const body = JSON.stringify({ choices: [{ message: { content }, finish_reason: "stop" }] });
    const raw = { digest: digestBytes(body), size: body.length };
    return { outcome: { error: null, body, attempts: 1, micros: 200_000, redacted: false }, raw };
  };
  const filler = "the estimate holds and the sum converges. ".repeat(40);
  for (const [index, unit] of run.units.entries()) {
    const verifier = Array.from({ length: 8 }, (_, repeat) => {
      const step = ((index * 7 + repeat * 3) % 10) - 1;
      return answer(`<assessment>${filler}</assessment><errors></errors><first_error_step>${step}</first_error_step>`);
    });
    const record = buildRecord(run.protocol, unit, {
      verifier,
      meta: verifier.map(() => answer("<level>BASIC_MATCH</level>")),
    });
    await writeFile(recordPath(run.request.output, unit.key), pretty(record));
  }
}
