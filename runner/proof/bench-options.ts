import type { BenchSize } from "./bench-setup.ts";

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

/** Options of `runner bench proof`; the defaults are the size that the limits are stated for. */
export const BENCH_PROOF_OPTIONS = {
  problems: { kind: "integer", value: "N", summary: `problems (default ${FULL_SIZE.problems})` },
  samples: { kind: "integer", value: "S", summary: `proofs a problem (default ${FULL_SIZE.samples})` },
  repeats: { kind: "integer", value: "R", summary: `judgments a proof (default ${FULL_SIZE.repeats})` },
  concurrency: { kind: "integer", value: "N", summary: `calls at once (default ${FULL_SIZE.concurrency})` },
  latency: {
    kind: "integer",
    value: "MS",
    min: 0,
    summary: `latency of the endpoint (default ${FULL_SIZE.latencyMs})`,
  },
  json: { kind: "flag", summary: "print the result as JSON on stdout" },
} as const;
