import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { parseImageMaps } from "../image/image-map.ts";
import { findDataset } from "../study/find-dataset.ts";
import { writeRegressionLock } from "../study/regression-lock.ts";
import { findRegressionState, requireReplay } from "../study/regression-run.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadStudy } from "../study/study-file.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.freeze> = async (options, _positionals, io) => {
  const { say, signal, env, projectRoot, cwd } = io;
  const study = options.study === undefined ? null : await loadStudy(resolve(cwd, options.study));
  if (study !== null) requireReplay(study);
  if (study !== null && (options.dataset !== undefined || options.tasks.length > 0)) {
    throw new RunnerError("usage", "USAGE", "--study already says which dataset and tasks", {
      hint: "Leave --dataset and --tasks out, or make a lock of each.",
    });
  }
  const lockFile = resolve(cwd, options.out);
  const dataset =
    study === null
      ? resolve(cwd, options.dataset ?? `${projectRoot}/tasks`)
      : await findDataset(study, cwd, projectRoot);
  // A lock is made of what can be read: the one that is held against it later may have changed.
  await loadDataset(dataset);
  await using engine = await ensureEngine({ fix: false, report: say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, projectRoot, say, signal);
  const chosen = study === null ? options.tasks : study.study.tasks;
  const { lock, problems, faults } = await findRegressionState({
    engine,
    images: {
      projectRoot,
      maps: parseImageMaps(options.imageMap),
      buildNetwork: (options.buildNetwork ?? "default") as "default" | "none" | "host",
      env,
    },
    lockFile,
    dataset,
    tasks: chosen.length === 0 ? null : chosen,
    study,
    locked: null,
    concurrency: options.concurrency ?? availableParallelism(),
    out: resolve(cwd, options.evidence ?? defaultOut("freeze")),
    cwd,
    report: say,
    signal,
  });
  const missing = chosen.filter((name) => !Object.hasOwn(lock.tasks, name)).map((name) => `there is no task ${name}`);
  const against = [
    ...faults.map(({ of, name, why }) => `${of} ${name} cannot be used: ${why}`),
    ...problems,
    ...missing,
  ];
  if (against.length === 0) await writeRegressionLock(lockFile, lock);
  const runs = Object.values(lock.tasks).flatMap(({ outcomes }) => Object.keys(outcomes)).length;
  const played = Object.keys(lock.study?.outcomes ?? {}).length;
  const tasks = Object.keys(lock.tasks).length;
  if (options.json)
    io.out(`${JSON.stringify({ lock: lockFile, written: against.length === 0, tasks, problems: against })}\n`);
  else {
    for (const problem of against) io.out(`refused: ${problem}\n`);
    io.out(
      against.length === 0
        ? `locked ${tasks} tasks with ${runs} runs and ${played} replayed trials in ${lockFile}\n`
        : "nothing was locked: a lock is made of tasks that are valid and runs that were made\n",
    );
  }
  return against.length === 0 ? 0 : 1;
};
