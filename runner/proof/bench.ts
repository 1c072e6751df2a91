import { mkdtemp, rm } from "node:fs/promises";
import { cpus, loadavg, tmpdir, totalmem } from "node:os";
import { join } from "node:path";
import { benchInference, type InferenceBench } from "./bench-inference.ts";
import type { BenchSize } from "./bench-setup.ts";
import { benchSummary, type SummaryBench } from "./bench-summary.ts";
import { evaluatorSource, projectRoot } from "./project.ts";

export interface ProofBench {
  readonly size: BenchSize;
  readonly inference: InferenceBench;
  readonly summary: SummaryBench;
  readonly environment: Readonly<Record<string, string | number>>;
}

/** Measures inference and summary in a temporary folder that is removed again. */
export async function benchProof(size: BenchSize, signal: AbortSignal): Promise<ProofBench> {
  const root = projectRoot();
  const folder = await mkdtemp(join(tmpdir(), "proof-bench-"));
  const place = { folder, root, source: await evaluatorSource(root) };
  try {
    const summary = await benchSummary(place, size);
    const inference = await benchInference(place, size, signal);
    return { size, inference, summary, environment: environment() };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
