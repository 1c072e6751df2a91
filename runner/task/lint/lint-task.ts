import type { Task } from "../model.ts";
import { checkContract } from "./contract.ts";
import { compareFindings, type Finding, type Found } from "./finding.ts";
import { checkImages, type MapImage } from "./images.ts";
import { findLeaks, type ImageFiles } from "./leaks.ts";
import { checkProof } from "./proof.ts";
import { checkSchema } from "./schema.ts";
import { checkScripts } from "./scripts.ts";
import { checkSecrets } from "./secrets.ts";
import { checkSettings } from "./settings.ts";
import { readTaskFiles } from "./task-files.ts";
import { checkNetworkUse, checkVerdictPaths } from "./verifier.ts";

export interface LintOptions {
  /** Image references that a site replaces, from `--image-map`. */
  readonly mapImage?: MapImage;
  /** Gives the files of the task's built image, where one was built; leaks in its layers are then found too. */
  readonly image?: (task: Task) => ImageFiles | null | Promise<ImageFiles | null>;
  readonly signal?: AbortSignal;
}

/** Lints one loaded task; findings come errors first, then by file and line. */
export async function lintTask(task: Task, options: LintOptions = {}): Promise<readonly Finding[]> {
  const { files, gitDirs, found } = await readTaskFiles(task);
  const image = (await options.image?.(task)) ?? null;
  const all: readonly Found[] = [
    ...found,
    ...checkSettings(task, files),
    ...(await checkImages(task, options.mapImage ?? (() => undefined))),
    ...checkScripts(files),
    ...checkVerdictPaths(files),
    ...checkNetworkUse(task, files),
    ...(await checkSchema(task, files)),
    ...checkContract(task, files),
    ...checkProof(task, files),
    ...(await checkSecrets(task, files)),
    ...(await findLeaks(task, {
      files,
      gitDirs,
      image,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    })),
  ];
  return all.map((entry) => ({ ...entry, task: task.id })).sort(compareFindings);
}
