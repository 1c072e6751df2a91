import { digestJson } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import type { Config } from "./config.ts";
import type { DataFile } from "./data.ts";
import { seen } from "./line-check.ts";
import type { EvaluatorSource } from "./project.ts";
import type { Prompt, PromptName } from "./prompts.ts";
import type { AnalysisSettings } from "./summary.ts";
import type { ModelSource, Settings, Task } from "./terms.ts";

/** What identifies a run. Digests here are bare hex, as in the public evaluator. */
export interface Manifest {
  readonly evaluator: "jacobian-runner";
  readonly evaluator_version: string;
  readonly protocol: "basic-v1";
  readonly task: Task;
  readonly data_sha256: string;
  readonly source_rows: number;
  readonly selected_rows: number;
  readonly config: Config;
  readonly settings: Settings;
  readonly analysis: AnalysisSettings;
  readonly prompt_sha256: Readonly<Partial<Record<PromptName, string>>>;
  readonly code_sha256: string;
  readonly model_source: ModelSource;
  readonly cassette_sha256: string | null;
  readonly output_policy: string;
  /** Digest of all the above. */
  readonly run_id: string;
}

export interface ManifestInput {
  readonly task: Task;
  readonly data: DataFile;
  readonly selected: number;
  readonly config: Config;
  readonly settings: Settings;
  readonly analysis: AnalysisSettings;
  readonly prompts: Readonly<Partial<Record<PromptName, Prompt>>>;
  readonly source: EvaluatorSource;
  readonly modelSource: ModelSource;
  readonly cassetteSha256: string | null;
}

/** Makes the manifest of a run. */
export function makeManifest(input: ManifestInput): Manifest {
  // The manifest is compared with a file, so members that JSON would drop are dropped now.
  const config = JSON.parse(JSON.stringify(input.config)) as Config;
  const manifest: Omit<Manifest, "run_id"> = {
    evaluator: "jacobian-runner",
    evaluator_version: input.source.version,
    protocol: "basic-v1",
    task: input.task,
    data_sha256: hex(input.data.sha256),
    source_rows: input.data.rows.length,
    selected_rows: input.selected,
    config,
    settings: input.settings,
    analysis: input.analysis,
    prompt_sha256: Object.fromEntries(
      Object.entries(input.prompts).map(([name, prompt]) => [name, hex(prompt.sha256)]),
    ),
    code_sha256: hex(input.source.digest),
    model_source: input.modelSource,
    cassette_sha256: input.cassetteSha256 === null ? null : hex(input.cassetteSha256),
    output_policy: "invalid output = zero credit, fixed denominator; finish_reason must be stop",
  };
  return { ...manifest, run_id: runIdOf(manifest) };
}

/** The digest of a manifest without its `run_id`. */
export function runIdOf(manifest: Omit<Manifest, "run_id">): string {
  return hex(digestJson(manifest));
}

/**
 * Refuses to continue a run that was something else.
 * @throws RunnerError `RESUME_CHANGED` naming every field that differs, with both values.
 */
export function requireSame(before: unknown, now: Manifest, folder: string): void {
  const changes = differences(before, now, "").filter(({ place }) => place !== "run_id");
  if (changes.length === 0 && isObject(before) && before.run_id === now.run_id) return;
  const list = changes.map(({ place, before: old, now: next }) => `${place}: was ${seen(old)}, is ${seen(next)}`);
  throw new RunnerError(
    "refused",
    "RESUME_CHANGED",
    `${folder} holds another run: ${list.join("; ") || "run_id differs"}`,
    {
      hint: "Resume with what the run began with, or choose a new --output folder.",
      details: { changes: changes.map(({ place }) => place) },
    },
  );
}

interface Change {
  readonly place: string;
  readonly before: unknown;
  readonly now: unknown;
}

function differences(before: unknown, now: unknown, place: string): Change[] {
  if (isObject(before) && isObject(now)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(now)])];
    return names.flatMap((name) => differences(before[name], now[name], place === "" ? name : `${place}.${name}`));
  }
  return JSON.stringify(before) === JSON.stringify(now) ? [] : [{ place, before, now }];
}

function hex(digest: string): string {
  return digest.replace(/^sha256:/, "");
}
