import { join, resolve } from "node:path";
import { parseImageMaps } from "../image/image-map.ts";
import type { RunRequest } from "../study/run-request.ts";
import type { CommandIo } from "./command.ts";
import { DEMO_STUDY } from "./demo-study.ts";

/** The options that choose what is planned. */
export interface PlanOptions {
  readonly study: string | undefined;
  readonly tasks: readonly string[];
  readonly repetitions: number | undefined;
  readonly replay: string | undefined;
  readonly agent: string | undefined;
  readonly model: string | undefined;
  readonly reasoningEffort: string | undefined;
  readonly imageMap: readonly string[];
  readonly buildNetwork: string | undefined;
}

/** What was asked for on the command line, with every path made absolute. */
export function runRequest(options: PlanOptions, io: Pick<CommandIo, "cwd" | "projectRoot">): RunRequest {
  const { study, tasks, repetitions, replay, imageMap, buildNetwork } = options;
  return {
    study: study === undefined ? join(io.projectRoot, DEMO_STUDY) : resolve(io.cwd, study),
    tasks: [...tasks],
    repetitions: repetitions ?? null,
    replay: replay === undefined ? null : resolve(io.cwd, replay),
    agent: options.agent ?? null,
    model: options.model ?? null,
    reasoningEffort: options.reasoningEffort ?? null,
    record: null,
    imageMap: parseImageMaps(imageMap),
    buildNetwork: (buildNetwork ?? "default") as RunRequest["buildNetwork"],
    cwd: io.cwd,
  };
}
