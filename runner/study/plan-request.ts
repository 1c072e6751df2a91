import type { Engine } from "../docker/engine.ts";
import type { Plan } from "./plan.ts";
import type { LoadedStudy } from "./study-file.ts";
import type { ImageSettings } from "./task-images.ts";

/** What the operator asked for beside the study. */
export interface PlanRequest {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  /** Only these tasks of the study; all when empty. */
  readonly tasks: readonly string[];
  readonly repetitions: number | null;
  /** Folder of cassettes that takes the place of the study's. */
  readonly replay: string | null;
  readonly images: ImageSettings;
  readonly cwd: string;
  /** The plan that must come out again: a task that has changed is then named as a change of the plan. */
  readonly planned?: Plan;
  /** False: find what is there, build nothing. */
  readonly build: boolean;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}
