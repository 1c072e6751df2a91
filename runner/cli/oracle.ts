import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { anchorLines } from "../evidence/anchor.ts";
import { parseImageMaps } from "../image/image-map.ts";
import { counted } from "../stats/wording.ts";
import { validateTasks } from "../study/oracle.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { selectTasks } from "../study/select-tasks.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.oracle> = async (options, _positionals, io) => {
  const maps = parseImageMaps(options.imageMap);
  const dataset = await loadDataset(resolve(io.cwd, options.dataset ?? `${io.projectRoot}/tasks`));
  const tasks = selectTasks(dataset, options.tasks);
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
  const result = await validateTasks({
    engine,
    tasks,
    images: {
      projectRoot: io.projectRoot,
      maps,
      buildNetwork: (options.buildNetwork ?? "default") as "default" | "none" | "host",
      env: io.env,
    },
    concurrency: options.concurrency ?? availableParallelism(),
    repeat: options.repeat ?? 1,
    out: resolve(io.cwd, options.out ?? defaultOut("oracle")),
    hostVariables: {},
    report: io.say,
    signal: io.signal,
  });
  const count = (wanted: string): number => result.tasks.filter(({ state }) => state === wanted).length;
  if (options.json) io.out(`${JSON.stringify(result)}\n`);
  else {
    for (const line of anchorLines(`oracle run in ${result.out}`, result.report)) io.say(line);
    io.out(
      `${counted(result.tasks.length, "task")}: ${count("valid")} valid, ${count("invalid")} invalid, ${count("refused")} refused, ${count("failed")} failed\n`,
    );
  }
  return count("valid") === result.tasks.length ? 0 : 1;
};
