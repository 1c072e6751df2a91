import { join, relative } from "node:path";
import { type Digest, digestFile, digestJson } from "../base/digest.ts";
import { type FileList, fileSets } from "./file-sets.ts";
import type { Dataset, EnvironmentSpec, Task } from "./model.ts";

/** The digests of one task. Each covers exactly what its name says, so that a change tells which part changed. */
export interface TaskDigests {
  /** `task.toml`, the instructions, `environment/`, step working files, the submission schema, prior trajectories. */
  readonly contract: Digest;
  /** What the environment image is made of: the build context and the image reference. */
  readonly environment: Digest;
  /** The whole `/tests` closure of every step and, for separate verifiers, what their image is made of. */
  readonly verifier: Digest;
  /** The whole `/solution` closure of every step. */
  readonly oracle: Digest;
  /** Every trap with its declaration and files. */
  readonly traps: Digest;
  /** Verifier, oracle and traps together: what the agent must never see. */
  readonly hidden: Digest;
  /** Contract and hidden parts together. */
  readonly task: Digest;
}

/**
 * Computes a task's digests. The rule: entries sorted by target (UTF-16 code units), each with type, execute bit of the owner and the
 * digest of its bytes, as canonical JSON. Empty folders and the execute bit count; owners, times and other mode bits do not.
 */
export async function taskDigests(task: Task): Promise<TaskDigests> {
  const sets = await fileSets(task);
  const environment = digestJson({
    files: await digestFiles(sets.environment),
    image: imageInput(task.environment, task.dir),
  });
  const contract = digestJson({
    toml: await digestFile(join(task.dir, "task.toml")),
    environment,
    submission: task.submission === null ? null : await digestFile(task.submission.schemaFile),
    steps: await Promise.all(
      task.steps.map(async (step, index) => ({
        name: step.name,
        instruction: await digestFile(step.instructionFile),
        workdir: await digestFiles(sets.steps[index]?.workdir ?? []),
      })),
    ),
    trajectories: await Promise.all(task.trajectories.map((file) => digestFile(file))),
  });
  const verifier = digestJson(
    await Promise.all(
      task.steps.map(async (step, index) => ({
        step: step.name,
        tests: await digestFiles(sets.steps[index]?.tests ?? []),
        image: step.verifier.environment === null ? null : imageInput(step.verifier.environment, task.dir),
      })),
    ),
  );
  const oracle = digestJson(
    await Promise.all(sets.steps.map(async ({ step, solution }) => ({ step, solution: await digestFiles(solution) }))),
  );
  const traps = digestJson(
    await Promise.all(
      sets.traps.map(async ({ trap, files }) => ({
        name: trap.name,
        kind: trap.kind,
        declaration: await digestFile(join(trap.dir, "trap.json")),
        files: await digestFiles(files),
      })),
    ),
  );
  const hidden = digestJson({ verifier, oracle, traps });
  return { contract, environment, verifier, oracle, traps, hidden, task: digestJson({ contract, hidden }) };
}

/** The digest of a dataset: its tasks' ids and task digests, sorted by id. */
export async function datasetDigest(dataset: Dataset): Promise<Digest> {
  const tasks = [];
  for (const task of dataset.tasks) tasks.push({ id: task.id, digest: (await taskDigests(task)).task });
  return digestJson(tasks);
}

/** The digest of a file list, as {@link fileSets} gives it. */
export async function digestFiles(files: FileList): Promise<Digest> {
  const entries = [];
  for (const { target, source, type, executable } of files) {
    const digest = type === "file" && source !== null ? await digestFile(source) : null;
    entries.push({ path: target, type, executable, digest });
  }
  return digestJson(entries);
}

/** Says which image an environment wants without a path of this machine. */
function imageInput(environment: EnvironmentSpec, dir: string): Record<string, string> {
  const { image } = environment;
  if (image.kind === "image") return { kind: image.kind, reference: image.reference };
  if (image.kind === "compose") return { kind: image.kind, file: relative(dir, image.file) };
  return { kind: image.kind, context: relative(dir, image.context) };
}
