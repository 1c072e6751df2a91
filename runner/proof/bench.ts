import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { Pool } from "undici";
import { systemClock } from "../base/clock.ts";
import { digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { type SampleSummary, summariseSamples } from "../stats/quantiles.ts";
import { requestBody } from "./call.ts";
import { judgedOf } from "./judged.ts";
import { pretty, readRecord } from "./output-folder.ts";
import { type EvaluatorSource, evaluatorSource, projectRoot } from "./project.ts";
import { buildRecord } from "./record.ts";
import { FILES, type PreparedRun, prepareRun, type RunRequest, recordPath } from "./request.ts";
import { executeRun } from "./run.ts";
import { summarize } from "./summary.ts";
import type { Settings } from "./terms.ts";

/** Size of the benchmark. */
export interface BenchSize {
  readonly problems: number;
  readonly samples: number;
  readonly repeats: number;
  readonly concurrency: number;
  readonly latencyMs: number;
  /** Annotated proofs of the summary part. */
  readonly proofs: number;
  readonly resamples: number;
}

/** The size that the project's own limits are stated for. */
export const FULL_SIZE: BenchSize = {
  problems: 245,
  samples: 4,
  repeats: 8,
  concurrency: 64,
  latencyMs: 200,
  proofs: 888,
  resamples: 10_000,
};

/** Inference with everything around it, beside a bare client and beside the ideal. */
export interface InferenceBench {
  readonly calls: number;
  /** Calls x latency / concurrency, in seconds. */
  readonly idealSeconds: number;
  /** From the first call to the last sealed record. */
  readonly inferenceSeconds: number;
  /** Everything: folder, calls, records, scores with their intervals, exports, seal. */
  readonly wallSeconds: number;
  /** Of everything to the ideal. */
  readonly ratio: number;
  /** The same pool without checkpoints, records and reading, over some of the calls: wall / ideal. */
  readonly bareCalls: number;
  readonly bareRatio: number;
  /** Microseconds of one call beyond the latency, from its first attempt to its body. */
  readonly overheadMicros: SampleSummary;
  readonly peakResidentBytes: number;
}

/** Reading and scoring stored records. */
export interface SummaryBench {
  readonly proofs: number;
  readonly judgments: number;
  readonly resamples: number;
  readonly readSeconds: number;
  readonly scoreSeconds: number;
  readonly cpuSeconds: number;
}

export interface ProofBench {
  readonly size: BenchSize;
  readonly inference: InferenceBench;
  readonly summary: SummaryBench;
  readonly environment: Readonly<Record<string, string | number>>;
}

const ENDPOINT = { base_url: "", generation: { temperature: 1 }, max_retries: 2 };

/** Measures inference and summary in a temporary folder that is removed again. */
export async function benchProof(size: BenchSize, signal: AbortSignal): Promise<ProofBench> {
  const root = projectRoot();
  const source = await evaluatorSource(root);
  const folder = await mkdtemp(join(tmpdir(), "proof-bench-"));
  try {
    const summary = await benchSummary(folder, size, source, root);
    const inference = await benchInference(folder, size, source, root, signal);
    return { size, inference, summary, environment: environment() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function benchInference(
  folder: string,
  size: BenchSize,
  source: EvaluatorSource,
  root: string,
  signal: AbortSignal,
): Promise<InferenceBench> {
  await using endpoint = await startEndpoint(root, size.latencyMs);
  const data = join(folder, "problems.jsonl");
  const domainOf = (index: number): string => (index % 5 === 0 ? "qe" : "ugd");
  await writeFile(
    data,
    Array.from(
      { length: size.problems },
      (_, index) =>
        `${JSON.stringify({ problem: `Prove that statement number ${index} holds for all $n < ${index + 2}$.`, domain: domainOf(index) })}\n`,
    ).join(""),
  );
  const run = await prepare(
    folder,
    root,
    source,
    data,
    endpoint.url,
    {
      samples: size.samples,
      verifier_repeats: size.repeats,
      meta: false,
      domain: "all",
      limit: null,
      use_reference_solution: true,
    },
    "prover",
    size,
  );
  const ideal = (calls: number): number => (calls * size.latencyMs) / size.concurrency / 1000;
  const started = performance.now();
  const { made, inferenceSeconds } = await executeRun(run, {
    env: {},
    signal,
    say: () => undefined,
    interactive: false,
    source,
    wall: systemClock.wall,
    uniform: Math.random,
    firstWaitMs: 1000,
    graceMs: 1000,
  });
  const wallSeconds = (performance.now() - started) / 1000;
  const peakResidentBytes = process.resourceUsage().maxRSS * 1024;
  const overheads: number[] = [];
  for (const { key } of run.units) {
    const record = await readRecord(run, key);
    for (const reply of [record?.policy_response, ...(record?.verifier_trials ?? []).map(({ response }) => response)]) {
      if (reply !== undefined) overheads.push(reply.micros - size.latencyMs * 1000);
    }
  }
  const bareCalls = Math.min(made, size.concurrency * 20);
  const bareSeconds = await bare(endpoint.url, run, bareCalls, size.concurrency);
  return {
    calls: made,
    idealSeconds: ideal(made),
    inferenceSeconds,
    wallSeconds,
    ratio: wallSeconds / ideal(made),
    bareCalls,
    bareRatio: bareSeconds / ideal(bareCalls),
    overheadMicros: summariseSamples(overheads),
    peakResidentBytes,
  };
}

/** The yardstick: the same pool and requests, with nothing around them. */
async function bare(url: string, run: PreparedRun, calls: number, concurrency: number): Promise<number> {
  const target = new URL(url);
  const pool = new Pool(target.origin, { connections: concurrency, pipelining: 1 });
  const { verifier } = run.config;
  if (verifier === undefined) throw new TypeError("the bench has a verifier");
  const body = requestBody(verifier, "x".repeat(2000));
  let left = calls;
  const started = performance.now();
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const path = `${target.pathname}/chat/completions`;
      const response = await pool.request({
        method: "POST",
        path,
        body,
        headers: { "content-type": "application/json" },
      });
      await response.body.json();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - started) / 1000;
  await pool.close();
  return seconds;
}

async function benchSummary(
  folder: string,
  size: BenchSize,
  source: EvaluatorSource,
  root: string,
): Promise<SummaryBench> {
  const data = join(folder, "proofs.jsonl");
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
  const run = await prepare(folder, root, source, data, "http://127.0.0.1:9/v1", settings, "verifier", size);
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

async function prepare(
  folder: string,
  root: string,
  source: EvaluatorSource,
  data: string,
  url: string,
  settings: Settings,
  task: "prover" | "verifier",
  size: BenchSize,
): Promise<PreparedRun> {
  const config = join(folder, `${task}-config.json`);
  const models = { policy: "bench-prover", verifier: "bench-judge", meta: "bench-grader" };
  const sections = Object.entries(models).map(([role, model]) => [role, { ...ENDPOINT, base_url: url, model }]);
  await writeFile(config, JSON.stringify(Object.fromEntries(sections)));
  const prompt = (name: string): string => join(root, "benchmarks", "proof", "prompts", `${name}.md`);
  const request: RunRequest = {
    task,
    data,
    config,
    output: join(folder, task),
    settings,
    analysis: { seed: 1, resamples: size.resamples },
    prompts: { generation: prompt("generation"), verifier: prompt("verifier"), meta: prompt("meta") },
    concurrency: size.concurrency,
    resume: false,
    replay: null,
    record: null,
    exports: ["json", "csv", "markdown", "html", "xlsx"],
  };
  return prepareRun(request, source);
}

async function startEndpoint(root: string, latencyMs: number): Promise<AsyncDisposable & { readonly url: string }> {
  const script = join(root, "benchmarks", "proof", "bench-endpoint.mjs");
  const child = execa(process.execPath, [script, String(latencyMs)], { stdin: "pipe", buffer: false, reject: false });
  const port = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8").trim()));
    void child.then(() =>
      reject(new RunnerError("environment", "BENCH_ENDPOINT", "the bench endpoint ended before it listened")),
    );
  });
  return {
    url: `http://127.0.0.1:${port}/v1`,
    [Symbol.asyncDispose]: async () => {
      child.stdin.end();
      await child;
    },
  };
}

function environment(): Record<string, string | number> {
  return {
    node: process.version,
    cpus: cpus().length,
    cpuModel: cpus()[0]?.model ?? "unknown",
    memoryBytes: totalmem(),
    loadAverage1m: Number((loadavg()[0] ?? 0).toFixed(2)),
  };
}
