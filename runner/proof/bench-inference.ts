import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { Pool } from "undici";
import { systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { type SampleSummary, summariseSamples } from "../stats/quantiles.ts";
import { type BenchPlace, type BenchSize, prepareBench } from "./bench-setup.ts";
import { requestBody } from "./call.ts";
import { readRecord } from "./output-folder.ts";
import type { PreparedRun } from "./request.ts";
import { executeRun } from "./run.ts";

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
  /** Processor time of this process for everything; unlike wall time it says little about who else is on the machine. */
  readonly cpuSeconds: number;
  /** The same pool without checkpoints, records and reading, over some of the calls: wall / ideal. */
  readonly bareCalls: number;
  readonly bareRatio: number;
  /** Microseconds of one call beyond the latency, from its first attempt to its body. */
  readonly overheadMicros: SampleSummary;
  readonly peakResidentBytes: number;
}

/** Runs ProverBench against an endpoint with fixed latency, then the bare client against the same endpoint. */
export async function benchInference(place: BenchPlace, size: BenchSize, signal: AbortSignal): Promise<InferenceBench> {
  await using endpoint = await startEndpoint(place.root, size.latencyMs);
  const data = join(place.folder, "problems.jsonl");
  const domainOf = (index: number): string => (index % 5 === 0 ? "qe" : "ugd");
  await writeFile(
    data,
    Array.from(
      { length: size.problems },
      (_, index) =>
        `${JSON.stringify({ problem: `Prove that statement number ${index} holds for all $n < ${index + 2}$.`, domain: domainOf(index) })}\n`,
    ).join(""),
  );
  const settings = {
    samples: size.samples,
    verifier_repeats: size.repeats,
    meta: false,
    domain: "all",
    limit: null,
    use_reference_solution: true,
  } as const;
  const run = await prepareBench(place, size, { task: "prover", data, url: endpoint.url, settings });
  const ideal = (calls: number): number => (calls * size.latencyMs) / size.concurrency / 1000;
  const before = process.cpuUsage();
  const started = performance.now();
  const { made, inferenceSeconds } = await executeRun(run, {
    env: {},
    signal,
    say: () => undefined,
    interactive: false,
    source: place.source,
    wall: systemClock.wall,
    uniform: Math.random,
    firstWaitMs: 1000,
    graceMs: 1000,
  });
  const wallSeconds = (performance.now() - started) / 1000;
  const cpu = process.cpuUsage(before);
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
    cpuSeconds: (cpu.user + cpu.system) / 1_000_000,
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
