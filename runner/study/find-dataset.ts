import { stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import type { LoadedStudy } from "./study-file.ts";

/** A study's dataset folder: its path counts from the working directory, else from the study file, else from the runner's folder. */
export async function findDataset(study: LoadedStudy, cwd: string, projectRoot: string): Promise<string> {
  const { dataset } = study.study;
  if (isAbsolute(dataset)) return dataset;
  for (const candidate of [resolve(cwd, dataset), study.resolve(dataset), join(projectRoot, dataset)]) {
    const info = await stat(candidate).catch(() => undefined);
    if (info?.isDirectory()) return candidate;
  }
  throw new RunnerError(
    "input",
    "DATASET_MISSING",
    `${study.path}: dataset ${JSON.stringify(dataset)} is no folder here, beside the study, or of the runner`,
    { hint: "Give the dataset's path in the study, absolute or relative to one of these." },
  );
}
