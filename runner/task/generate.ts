import { join } from "node:path";
import { execa } from "execa";
import { z } from "zod";
import { RunnerError } from "../base/errors.ts";

const GENERATOR = join("oracle", "generate", "main.py");

const results = z.strictObject({
  schemaVersion: z.literal("1"),
  family: z.string(),
  tasks: z.array(z.strictObject({ task: z.string(), path: z.string(), faults: z.array(z.string()) })),
});
const families = z.array(z.string());

/** What to generate: `count` bundles of `family` from `seed`, below the folder `out`. */
export interface GenerateRequest {
  readonly projectRoot: string;
  readonly family: string;
  readonly seed: string;
  readonly out: string;
  readonly count: number;
  readonly signal?: AbortSignal;
}

/** The bundles that were written; `faults` is empty for a bundle that proved itself (oracle 1, nop 0, every trap 0). */
export type Generated = z.infer<typeof results>;

/**
 * Families of tasks that can be generated, in alphabetical order.
 * @throws RunnerError `GENERATE_FAILED`, `NO_PYTHON`.
 */
export async function generatorFamilies(projectRoot: string, signal?: AbortSignal): Promise<readonly string[]> {
  return families.parse(JSON.parse((await generator(projectRoot, ["--list"], signal)).stdout));
}

/**
 * Writes fresh self-contained bundles and proves each by running its reference solution, nothing, and its traps through its
 * verifier on this host. The seed is not written anywhere: the bundles carry its digest.
 * @throws RunnerError `UNKNOWN_FAMILY`, `GENERATE_FAILED` (the generator refused, with its reason), `NO_PYTHON`.
 */
export async function generateTasks(request: GenerateRequest): Promise<Generated> {
  const { projectRoot, family, seed, out, count, signal } = request;
  const known = await generatorFamilies(projectRoot, signal);
  if (!known.includes(family)) {
    throw new RunnerError("usage", "UNKNOWN_FAMILY", `no family of tasks is named "${family}"`, {
      hint: `Name one of: ${known.join(", ")}.`,
    });
  }
  const args = [family, `--seed=${seed}`, `--out=${out}`, `--count=${count}`];
  return results.parse(JSON.parse((await generator(projectRoot, args, signal)).stdout));
}

async function generator(projectRoot: string, args: readonly string[], signal: AbortSignal | undefined) {
  const run = await execa("python3", ["-B", GENERATOR, ...args], {
    cwd: projectRoot,
    reject: false,
    ...(signal === undefined ? {} : { cancelSignal: signal }),
  });
  if (run.isCanceled) throw new RunnerError("interrupted", "INTERRUPTED", "the generator was stopped");
  if (run.code === "ENOENT") {
    throw new RunnerError(
      "environment",
      "NO_PYTHON",
      "python3 is not installed, and the task generator is a Python program",
      {
        hint: "Install Python 3.11 or newer (Debian: apt-get install python3).",
      },
    );
  }
  // Exit code 1 means that an instance did not prove itself; its faults are in the output.
  if (run.exitCode !== 0 && run.exitCode !== 1) {
    const reason = run.stderr.trim().split("\n").at(-1) ?? "";
    throw new RunnerError("input", "GENERATE_FAILED", `the task generator gave up: ${reason.slice(0, 500)}`, {
      hint: "Change what the reason names and try again.",
    });
  }
  return run;
}
