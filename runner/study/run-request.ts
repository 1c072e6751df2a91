import { resolve } from "node:path";
import { z } from "zod";
import type { BuildNetwork } from "../image/build-task-image.ts";
import { overrideStudy } from "./override-study.ts";
import type { PlanRequest } from "./plan-request.ts";
import { type LoadedStudy, loadStudy } from "./study-file.ts";
import type { ImageSettings } from "./task-images.ts";

/**
 * What the operator asked for, as paths and words: with it the plan can be made again. It binds nothing by itself; what was asked for is
 * held against the plan each time.
 */
export const runRequestSchema = z.strictObject({
  /** Absolute path of the study file. */
  study: z.string().min(1),
  /** Only these tasks; all when empty. */
  tasks: z.array(z.string().min(1)),
  repetitions: z.int().min(1).nullable(),
  /** Folder of cassettes that takes the place of the study's, absolute. */
  replay: z.string().min(1).nullable(),
  /** In place of what the study says; null leaves it. */
  agent: z.string().min(1).nullable().default(null),
  model: z.string().min(1).nullable().default(null),
  reasoningEffort: z.string().min(1).nullable().default(null),
  /** Folder that cassettes of the live conversations are written to, absolute. */
  record: z.string().min(1).nullable().default(null),
  imageMap: z.array(z.strictObject({ from: z.string(), to: z.string() })),
  buildNetwork: z.enum(["default", "none", "host"]),
  /** The working directory that the study's dataset is looked up from. */
  cwd: z.string().min(1),
});

export type RunRequest = z.infer<typeof runRequestSchema>;

/** What making a plan from a request takes from the running program. */
export interface RequestContext extends Pick<PlanRequest, "engine" | "build" | "report" | "signal"> {
  readonly projectRoot: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** The study of a request, and the request in the form that plans are made from. */
export function planRequestOf(request: RunRequest, study: LoadedStudy, context: RequestContext): PlanRequest {
  const { projectRoot, env, ...rest } = context;
  const images: ImageSettings = {
    projectRoot,
    maps: request.imageMap,
    buildNetwork: request.buildNetwork as BuildNetwork,
    env,
  };
  const { tasks, repetitions, replay, cwd } = request;
  return { ...rest, study, tasks, repetitions, replay, images, cwd };
}

/** Reads the request's study, with what the request says in its place, or another file with the same bytes where the study has moved. */
export async function loadRequestedStudy(request: RunRequest, moved: string | null): Promise<LoadedStudy> {
  return overrideStudy(await loadStudy(moved === null ? request.study : resolve(moved)), request);
}
