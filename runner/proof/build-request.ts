import { join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { DEFAULTS, type ProofOptions } from "./options.ts";
import { EXPORTS, type ExportForm, type RunRequest } from "./request.ts";
import type { Split, Task } from "./terms.ts";

export interface RequestWorld {
  readonly cwd: string;
  /** The project's own folder: sample data and prompts are in it. */
  readonly root: string;
  /** Wall time as ISO 8601. */
  readonly now: string;
}

/** Turns the options of a command into a request. @throws RunnerError `USAGE`. */
export function buildRequest(task: Task, options: ProofOptions, world: RequestWorld): RunRequest {
  const demo = options.demo === true;
  if (demo) refuseBeside(options, ["data", "config", "replay", "record"]);
  const own = join(world.root, "benchmarks", "proof");
  const path = (value: string): string => resolve(world.cwd, value);
  const given = (name: "data" | "config", sample: string): string => {
    if (demo) return join(own, sample);
    const value = options[name];
    if (value === undefined) throw usage(`expected --${name}`, "Give the file, or try the command with --demo.");
    return path(value);
  };
  if (options.resume === true && options.output === undefined) {
    throw usage(
      "expected --output beside --resume",
      "Name the folder of the run to go on with: without --output every run has a new folder.",
    );
  }
  if (options.metaPrompt !== undefined && options.meta !== true) {
    throw usage(
      "expected --meta beside --meta-prompt",
      "Add --meta to have judgments graded, or leave the prompt out.",
    );
  }
  const repeats = demo ? 4 : task === "prover" ? DEFAULTS.proverRepeats : DEFAULTS.verifierRepeats;
  const stamp = world.now.replaceAll(/[-:]|\.[0-9]+/g, "");
  return {
    task,
    data: given("data", task === "prover" ? "sample/problems.jsonl" : "sample/proofs.jsonl"),
    config: given("config", "demo/config.json"),
    output: path(options.output ?? join("runs", `${task}${demo ? "-demo" : ""}-${stamp}`)),
    settings: {
      samples: task === "prover" ? (options.samples ?? (demo ? 2 : DEFAULTS.samples)) : 1,
      verifier_repeats: options.verifierRepeats ?? repeats,
      meta: task === "verifier" && options.meta === true,
      domain: splitOf(options.domain),
      limit: options.limit ?? null,
      use_reference_solution: useReference(task, options),
    },
    analysis: { seed: options.seed ?? DEFAULTS.seed, resamples: options.resamples ?? DEFAULTS.resamples },
    prompts: {
      generation:
        options.generationPrompt === undefined ? join(own, "prompts", "generation.md") : path(options.generationPrompt),
      verifier:
        options.verifierPrompt === undefined ? join(own, "prompts", "verifier.md") : path(options.verifierPrompt),
      meta: options.metaPrompt === undefined ? join(own, "prompts", "meta.md") : path(options.metaPrompt),
    },
    concurrency: options.concurrency ?? DEFAULTS.concurrency,
    resume: options.resume === true,
    replay: demo ? join(own, "demo", `${task}.jsonl`) : options.replay === undefined ? null : path(options.replay),
    record: options.record === undefined ? null : path(options.record),
    exports: exportsOf(options.export),
  };
}

function refuseBeside(options: ProofOptions, names: readonly (keyof ProofOptions)[]): void {
  const extra = names.filter((name) => options[name] !== undefined);
  if (extra.length === 0) return;
  throw usage(
    `expected --demo alone, got --${extra.join(" and --")} beside it`,
    "The demo brings its own data, config and replies.",
  );
}

function splitOf(domain: string | undefined): Split {
  if (domain === undefined || domain === "all") return "all";
  if (domain === "ugd" || domain === "qe") return domain;
  throw usage(`expected --domain to be all, ugd or qe, got ${JSON.stringify(domain)}`, "Choose one of the three.");
}

function useReference(task: Task, options: ProofOptions): boolean {
  const [yes, no] = [options.useReferenceSolution === true, options.noUseReferenceSolution === true];
  if (yes && no) {
    throw usage("expected --use-reference-solution or --no-use-reference-solution, got both", "Choose one of the two.");
  }
  return yes || (!no && task === "prover");
}

function exportsOf(forms: readonly string[] | undefined): ExportForm[] {
  if (forms === undefined || forms.length === 0) return [...EXPORTS];
  return EXPORTS.filter((form) => forms.includes(form));
}

function usage(message: string, hint: string): RunnerError {
  return new RunnerError("usage", "USAGE", message, { hint });
}
