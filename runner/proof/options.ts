/** Defaults that the help names and the commands use. */
export const DEFAULTS = {
  concurrency: 16,
  seed: 20261130,
  resamples: 10_000,
  proverRepeats: 8,
  verifierRepeats: 1,
  samples: 1,
  graceMs: 10_000,
  firstWaitMs: 1000,
} as const;

const shared = {
  data: { kind: "string", value: "FILE", summary: "benchmark data, JSONL" },
  config: {
    kind: "string",
    value: "FILE",
    summary: "endpoints by role, JSON; keys only by the name of an environment variable",
  },
  output: { kind: "string", value: "DIR", summary: "where the evidence goes (default runs/<command>-<UTC time>)" },
  domain: {
    kind: "string",
    value: "WHICH",
    choices: ["all", "ugd", "qe"],
    summary: "rows of one domain (default: all)",
  },
  limit: { kind: "integer", value: "N", summary: "only the first N selected rows" },
  useReferenceSolution: { kind: "flag", summary: "show the reference solution to the judges" },
  noUseReferenceSolution: { kind: "flag", summary: "do not show the reference solution to the judges" },
  verifierPrompt: { kind: "string", value: "FILE", summary: "prompt of the judges, instead of the project's own" },
  resume: { kind: "flag", summary: "continue the run in --output; no completed call is made again" },
  dryRun: { kind: "flag", summary: "check everything, print the call budget, write nothing and call nothing" },
  concurrency: { kind: "integer", value: "N", summary: `calls at once (default ${DEFAULTS.concurrency})` },
  seed: { kind: "integer", value: "N", min: 0, summary: `seed of bootstrap and folds (default ${DEFAULTS.seed})` },
  resamples: { kind: "integer", value: "N", min: 100, summary: `bootstrap resamples (default ${DEFAULTS.resamples})` },
  record: { kind: "string", value: "FILE", summary: "write the complete run into a new cassette" },
  replay: {
    kind: "string",
    value: "FILE",
    summary: "take the replies from a cassette; no endpoint and no key is used",
  },
  export: {
    kind: "list",
    value: "FORM",
    choices: ["json", "jsonl", "csv", "xlsx", "markdown", "html"],
    summary: "forms of the results beside summary.json (default: all)",
  },
  demo: { kind: "flag", summary: "run the sample data on scripted replies: no model, no key" },
  json: { kind: "flag", summary: "print the result as JSON on stdout" },
} as const;

const { data, config, output, domain, limit, verifierPrompt, ...rest } = shared;

/** Options of `runner prover`. */
export const PROVER_OPTIONS = {
  data,
  config,
  output,
  domain,
  limit,
  samples: { kind: "integer", value: "S", summary: "proofs a problem (default 1; demo 2)" },
  verifierRepeats: { kind: "integer", value: "R", summary: "judgments a proof (default 8; demo 4)" },
  generationPrompt: { kind: "string", value: "FILE", summary: "prompt of the policy, instead of the project's own" },
  verifierPrompt,
  ...rest,
} as const;

/** Options of `runner verifier`. */
export const VERIFIER_OPTIONS = {
  data,
  config,
  output,
  domain,
  limit,
  verifierRepeats: { kind: "integer", value: "R", summary: "judgments a proof (default 1; demo 4)" },
  meta: { kind: "flag", summary: "let a meta model grade each valid judgment against the human annotation" },
  metaPrompt: { kind: "string", value: "FILE", summary: "prompt of the meta model, instead of the project's own" },
  verifierPrompt,
  ...rest,
} as const;

/** Values that the two option tables parse to. */
export interface ProofOptions {
  readonly data?: string | undefined;
  readonly config?: string | undefined;
  readonly output?: string | undefined;
  readonly domain?: string | undefined;
  readonly limit?: number | undefined;
  readonly samples?: number | undefined;
  readonly verifierRepeats?: number | undefined;
  readonly useReferenceSolution?: boolean | undefined;
  readonly noUseReferenceSolution?: boolean | undefined;
  readonly generationPrompt?: string | undefined;
  readonly verifierPrompt?: string | undefined;
  readonly metaPrompt?: string | undefined;
  readonly meta?: boolean | undefined;
  readonly resume?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly concurrency?: number | undefined;
  readonly seed?: number | undefined;
  readonly resamples?: number | undefined;
  readonly record?: string | undefined;
  readonly replay?: string | undefined;
  readonly export?: readonly string[] | undefined;
  readonly demo?: boolean | undefined;
  readonly json?: boolean | undefined;
}
