import { existsSync } from "node:fs";
import { join } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { type Cassette, openCassette } from "./cassette.ts";
import { type Config, readConfig, rolesOf } from "./config.ts";
import { type DataFile, readData, selectRows } from "./data.ts";
import { type Manifest, makeManifest } from "./manifest.ts";
import type { EvaluatorSource } from "./project.ts";
import { type Prompt, type PromptName, readPrompt } from "./prompts.ts";
import { type CallBudget, callBudget, type Protocol, type Unit, unitsOf } from "./protocol.ts";
import type { AnalysisSettings } from "./summary.ts";
import type { ModelSource, Row, Settings, Task } from "./terms.ts";

/** Forms in which results are exported. */
export const EXPORTS = ["json", "jsonl", "csv", "xlsx", "markdown", "html"] as const;
export type ExportForm = (typeof EXPORTS)[number];

/** A run as it was asked for; paths are absolute. */
export interface RunRequest {
  readonly task: Task;
  readonly data: string;
  readonly config: string;
  readonly output: string;
  readonly settings: Settings;
  readonly analysis: AnalysisSettings;
  readonly prompts: Readonly<Partial<Record<PromptName, string>>>;
  readonly concurrency: number;
  readonly resume: boolean;
  readonly replay: string | null;
  readonly record: string | null;
  readonly exports: readonly ExportForm[];
}

/** A run of which every input has been read and checked; nothing has been written. */
export interface PreparedRun {
  readonly request: RunRequest;
  readonly data: DataFile;
  readonly rows: readonly Row[];
  readonly units: readonly Unit[];
  readonly config: Config;
  readonly manifest: Manifest;
  readonly budget: CallBudget;
  readonly protocol: Protocol;
  /** The cassette that stands in for the endpoints; null when they are asked themselves. */
  readonly cassette: Cassette | null;
  readonly modelSource: ModelSource;
}

/** Prompts that a run needs. */
export function promptsOf(task: Task, meta: boolean): PromptName[] {
  if (task === "prover") return ["generation", "verifier"];
  return meta ? ["verifier", "meta"] : ["verifier"];
}

/** Reads and checks every input of a run. @throws RunnerError for the first thing that is wrong. */
export async function prepareRun(request: RunRequest, source: EvaluatorSource): Promise<PreparedRun> {
  const { task, settings } = request;
  if (request.replay !== null && request.record !== null) {
    throw new RunnerError("usage", "USAGE", "expected --record or --replay, got both", {
      hint: "A replayed run makes nothing new to record.",
    });
  }
  if (request.record !== null && existsSync(request.record)) {
    throw new RunnerError("refused", "CASSETTE_EXISTS", `the cassette ${request.record} exists already`, {
      hint: "Choose a new file for --record: a recording is not overwritten.",
    });
  }
  const data = await readData(request.data, task);
  const rows = selectRows(data.rows, settings.domain, settings.limit);
  const config = await readConfig(request.config, rolesOf(task, settings.meta));
  const prompts: Partial<Record<PromptName, Prompt>> = {};
  for (const name of promptsOf(task, settings.meta)) {
    prompts[name] = await readPrompt(request.prompts[name] ?? "", name);
  }
  const cassette = request.replay === null ? null : await openCassette(request.replay);
  const modelSource: ModelSource =
    cassette === null ? "live" : cassette.header.source === "scripted" ? "scripted" : "replayed";
  const manifest = makeManifest({
    task,
    data,
    selected: rows.length,
    config,
    settings,
    analysis: request.analysis,
    prompts,
    source,
    modelSource,
    cassetteSha256: cassette?.sha256 ?? null,
  });
  return {
    request,
    data,
    rows,
    units: unitsOf(rows, settings.samples),
    config,
    manifest,
    budget: callBudget(task, rows.length, settings),
    protocol: { task, runId: manifest.run_id, config: manifest.config, settings, prompts },
    cassette,
    modelSource,
  };
}

/** Paths inside an output folder. */
export const FILES = {
  manifest: "manifest.json",
  budget: "call_budget.json",
  records: "records",
  results: "results.jsonl",
  summary: "summary.json",
  calls: "calls.jsonl",
  ledger: "ledger.jsonl",
  lock: ".running.lock",
  report: "report.json",
  exports: "exports",
} as const;

/** The path of a unit's record. */
export function recordPath(output: string, key: string): string {
  return join(output, FILES.records, `${key}.json`);
}
