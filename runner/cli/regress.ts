import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { messageOf, RunnerError } from "../base/errors.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { parseImageMaps } from "../image/image-map.ts";
import { type Drift, driftOf, type Fault } from "../study/regression-drift.ts";
import { type RegressionLock, readRegressionLock } from "../study/regression-lock.ts";
import { besideLock, findRegressionState, requireReplay } from "../study/regression-run.ts";
import { regressionText } from "../study/regression-text.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { type LoadedStudy, loadStudy } from "../study/study-file.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.regress> = async (options, [named = ""], io) => {
  const { say, signal, env, projectRoot, cwd } = io;
  const lockFile = resolve(cwd, named);
  const lock = await readRegressionLock(lockFile);
  const read = await readStudy(lockFile, lock);
  await using engine = await ensureEngine({ fix: false, report: say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, projectRoot, say, signal);
  const {
    lock: found,
    faults,
    problems,
  } = await findRegressionState({
    engine,
    images: {
      projectRoot,
      maps: parseImageMaps(options.imageMap),
      buildNetwork: (options.buildNetwork ?? "default") as "default" | "none" | "host",
      env,
    },
    lockFile,
    dataset: besideLock(lockFile, lock.dataset),
    tasks: lock.whole ? null : Object.keys(lock.tasks),
    study: read.study,
    locked: lock,
    concurrency: options.concurrency ?? availableParallelism(),
    out: resolve(cwd, options.evidence ?? defaultOut("regress")),
    cwd,
    report: say,
    signal,
  });
  const drifts = driftOf(lock, found, [...read.faults, ...faults]);
  const same = drifts.length === 0 && problems.length === 0;
  if (options.json) io.out(`${JSON.stringify({ same, counts: countDrifts(drifts), drifts, problems })}\n`);
  else io.out(regressionText(lock, drifts, problems));
  return same ? 0 : 1;
};

/** The lock's study, or what is wrong with it: a study that changed until it cannot be run is a difference like any other. */
async function readStudy(
  lockFile: string,
  { study }: RegressionLock,
): Promise<{ readonly study: LoadedStudy | null; readonly faults: readonly Fault[] }> {
  if (study === null) return { study: null, faults: [] };
  try {
    const loaded = await loadStudy(besideLock(lockFile, study.path));
    requireReplay(loaded);
    return { study: loaded, faults: [] };
  } catch (thrown) {
    if (!(thrown instanceof RunnerError)) throw thrown;
    return { study: null, faults: [{ of: "study", name: study.path, why: messageOf(thrown) }] };
  }
}

function countDrifts(drifts: readonly Drift[]): Record<Drift["of"], number> {
  const counts = { task: 0, image: 0, server: 0, study: 0, outcome: 0 };
  for (const { of } of drifts) counts[of] += 1;
  return counts;
}
