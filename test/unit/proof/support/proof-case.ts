import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RunnerError } from "../../../../runner/base/errors.ts";
import { type ProofOverrides, runProofCommand } from "../../../../runner/proof/command.ts";
import type { ProofOptions } from "../../../../runner/proof/options.ts";
import type { EvaluatorSource } from "../../../../runner/proof/project.ts";
import type { ProofRecord, Task } from "../../../../runner/proof/terms.ts";

export const SOURCE: EvaluatorSource = {
  version: "0.0.0",
  digest: `sha256:${"0".repeat(64)}`,
  commit: "0".repeat(40),
  dirty: false,
};

export const verdict = (step: number, words = "Every step was read."): string =>
  `<assessment>${words}</assessment><errors>${step === -1 ? "" : `Step ${step} fails.`}</errors><first_error_step>${step}</first_error_step>`;

/** Problems of ProverBench, alternating domains. */
export function problems(count: number): object[] {
  return Array.from({ length: count }, (_, index) => ({
    problem_id: `p${index}`,
    problem: `Prove statement ${index}.`,
    reference_solution: `REFERENCE ${index}`,
    domain: index % 2 === 0 ? "ugd" : "qe",
  }));
}

/** Annotated proofs: even ones correct, odd ones wrong at step 1. */
export function proofs(count: number): object[] {
  return problems(count).map((problem, index) => ({
    ...problem,
    proof_id: `v${index}`,
    steps: [`First step of ${index}.`, "Second step."],
    annotation: {
      first_fatal_error_step: index % 2 === 0 ? -1 : 1,
      recoverable_error_steps: [-1],
      reviewer_comment: `SECRET COMMENT ${index}`,
    },
  }));
}

export interface CaseResult {
  readonly code: number | null;
  readonly error: RunnerError | null;
  readonly out: string;
  readonly said: string;
}

/** A folder with data and config, in which commands run. */
export interface ProofCase extends AsyncDisposable {
  readonly folder: string;
  readonly path: (name: string) => string;
  readonly run: (
    options?: ProofOptions,
    more?: ProofOverrides & { readonly env?: Record<string, string>; readonly signal?: AbortSignal },
  ) => Promise<CaseResult>;
  readonly json: <T = unknown>(name: string) => Promise<T>;
  readonly record: (key: string) => Promise<ProofRecord>;
  /** Names and bytes of every file of the output folder. */
  readonly files: () => Promise<Map<string, Buffer>>;
}

export async function proofCase(task: Task, rows: readonly object[], config: object): Promise<ProofCase> {
  const folder = await mkdtemp(join(tmpdir(), "proof-case-"));
  const path = (name: string): string => join(folder, name);
  await writeFile(path("data.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  await writeFile(path("config.json"), JSON.stringify(config));
  return {
    folder,
    path,
    run: async (options = {}, { env = {}, signal = new AbortController().signal, ...overrides } = {}) => {
      let [out, said] = ["", ""];
      const io = {
        out: (text: string) => {
          out += text;
        },
        say: (line: string) => {
          said += `${line}\n`;
        },
        env,
        cwd: folder,
        signal,
        interactive: false,
      };
      const given = {
        data: "data.jsonl",
        config: "config.json",
        output: "out",
        resamples: 100,
        export: ["json"],
        json: true,
        ...options,
      };
      const world = { source: SOURCE, firstWaitMs: 1, graceMs: 50, root: process.cwd(), ...overrides };
      try {
        return { code: await runProofCommand(task, given, io, world), error: null, out, said };
      } catch (thrown) {
        if (!(thrown instanceof RunnerError)) throw thrown;
        return { code: null, error: thrown, out, said };
      }
    },
    json: async (name) => JSON.parse(await readFile(path(join("out", name)), "utf8")),
    record: async (key) => JSON.parse(await readFile(path(join("out", "records", `${key}.json`)), "utf8")),
    files: async () => {
      const entries = await readdir(path("out"), { recursive: true, withFileTypes: true }).catch(() => []);
      const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
      return new Map(
        await Promise.all(files.map(async (file) => [file.slice(folder.length + 5), await readFile(file)] as const)),
      );
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}
