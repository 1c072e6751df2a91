import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { EvaluatorSource } from "./project.ts";
import { type PreparedRun, prepareRun, type RunRequest } from "./request.ts";
import type { Settings, Task } from "./terms.ts";

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

/** Where a benchmark works. */
export interface BenchPlace {
  /** A temporary folder. */
  readonly folder: string;
  /** The project's own folder. */
  readonly root: string;
  readonly source: EvaluatorSource;
}

const ENDPOINT = { base_url: "", generation: { temperature: 1 }, max_retries: 2 };

/** Prepares a run over the rows of `data`, answered by the endpoint at `url`. */
export async function prepareBench(
  { folder, root, source }: BenchPlace,
  size: BenchSize,
  ask: { readonly task: Task; readonly data: string; readonly url: string; readonly settings: Settings },
): Promise<PreparedRun> {
  const { task, data, url, settings } = ask;
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
