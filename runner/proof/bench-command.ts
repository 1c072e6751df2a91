import { isUnknown, type Known } from "../base/unknown.ts";
import { benchProof, type ProofBench } from "./bench.ts";
import { FULL_SIZE } from "./bench-options.ts";
import type { ProofIo } from "./command.ts";

export interface BenchProofOptions {
  readonly problems?: number | undefined;
  readonly samples?: number | undefined;
  readonly repeats?: number | undefined;
  readonly concurrency?: number | undefined;
  readonly latency?: number | undefined;
  readonly json?: boolean | undefined;
}

/** `runner bench proof`: inference beside its ideal and a bare client, and the summary of stored records. */
export async function run(options: BenchProofOptions, _positionals: readonly string[], io: ProofIo): Promise<number> {
  const size = {
    ...FULL_SIZE,
    problems: options.problems ?? FULL_SIZE.problems,
    samples: options.samples ?? FULL_SIZE.samples,
    repeats: options.repeats ?? FULL_SIZE.repeats,
    concurrency: options.concurrency ?? FULL_SIZE.concurrency,
    latencyMs: options.latency ?? FULL_SIZE.latencyMs,
  };
  io.say("Measuring against an endpoint with fixed latency in a process of its own; this takes about a minute.");
  const result = await benchProof(size, io.signal);
  io.out(options.json === true ? `${JSON.stringify(result, null, 2)}\n` : describe(result));
  return 0;
}

function describe({ size, inference, summary, environment }: ProofBench): string {
  const millis = (value: Known<number>): string => (isUnknown(value) ? "unknown" : `${(value / 1000).toFixed(1)} ms`);
  const { overheadMicros: over } = inference;
  return `${[
    `inference: ${size.problems} problems x ${size.samples} samples x ${size.repeats} judgments = ${inference.calls} calls, ${size.latencyMs} ms latency, concurrency ${size.concurrency}`,
    `  ideal ${inference.idealSeconds.toFixed(2)} s   inference ${inference.inferenceSeconds.toFixed(2)} s (${(inference.inferenceSeconds / inference.idealSeconds).toFixed(3)} x ideal)   with scores and seal ${inference.wallSeconds.toFixed(2)} s (${inference.ratio.toFixed(3)} x ideal, limit 1.15)`,
    `  CPU of the client for all of it ${inference.cpuSeconds.toFixed(2)} s (${((inference.cpuSeconds / inference.calls) * 1000).toFixed(2)} ms a call)`,
    `  bare client over ${inference.bareCalls} calls: wall/ideal ${inference.bareRatio.toFixed(3)}`,
    `  per call beyond the latency: p50 ${millis(over.median)}   p95 ${millis(over.p95)}   p99 ${millis(over.p99)}   max ${millis(over.max)}`,
    `  peak resident memory ${(inference.peakResidentBytes / 1_000_000).toFixed(0)} MB (limit 300 MB)`,
    `summary: ${summary.proofs} proofs x 8 judgments from disk, ${summary.resamples} resamples: read ${summary.readSeconds.toFixed(2)} s + score ${summary.scoreSeconds.toFixed(2)} s (limit 5 s), CPU ${summary.cpuSeconds.toFixed(2)} s`,
    `environment: ${Object.entries(environment)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ")}`,
  ].join("\n")}\n`;
}
