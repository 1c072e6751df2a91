import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { otherRuntimes } from "../agent/registry.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { ownerLabels, thisOwner } from "../docker/ownership.ts";
import { anchorLines } from "../evidence/anchor.ts";
import { requireEmpty } from "../evidence/bundle.ts";
import { buildImages } from "../image/build-images.ts";
import { loadRecipes } from "../image/recipe.ts";
import { executePlan } from "../study/execute.ts";
import { makePlan } from "../study/make-plan.ts";
import { CONDITIONS } from "../study/order.ts";
import { outcomeTable } from "../study/outcome-table.ts";
import { proveTasks } from "../study/prove-tasks.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadStudy } from "../study/study-file.ts";
import { newRunId } from "../trial/open-world.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";
import { runRequest } from "./plan-request.ts";

export const run: Run<typeof OPTIONS.demo> = async ({ out: folder, json }, _positionals, io) => {
  const { say, signal, env } = io;
  const out = resolve(io.cwd, folder ?? defaultOut("demo"));
  await requireEmpty(out);
  const study = await loadStudy(join(io.projectRoot, DEMO_STUDY));
  say("1/4 Docker engine and images");
  await using engine = await ensureEngine({ fix: true, report: say, signal, env });
  await requireDisk(engine);
  await cleanUpDeadRuns(engine, io.projectRoot, say, signal);
  const unused = otherRuntimes(study.study.agent.name);
  await buildImages({
    docker: engine.docker,
    projectRoot: io.projectRoot,
    names: [...(await loadRecipes(io.projectRoot)).keys()].filter((name) => !unused.includes(name)),
    labels: ownerLabels(await thisOwner(), { run: newRunId(), role: "image-build" }),
    report: say,
    env,
    signal,
  });
  const images = { projectRoot: io.projectRoot, maps: [], buildNetwork: "default" as const, env };
  const concurrency = availableParallelism();
  say("2/4 Oracle: are the demo's tasks solvable and discriminating?");
  const proven = await proveTasks({
    engine,
    study,
    images,
    cwd: io.cwd,
    concurrency,
    out: join(out, "oracle"),
    report: say,
    signal,
  });
  if (!proven.valid) return 1;
  say("3/4 Control and treatment in real containers, with the real Jacobian in the treatment (SCRIPTED model)");
  const prepared = await makePlan({
    engine,
    study,
    tasks: [],
    repetitions: null,
    replay: null,
    images,
    cwd: io.cwd,
    build: true,
    report: say,
    signal,
  });
  const runs = await executePlan({
    engine,
    study,
    prepared,
    request: runRequest(
      {
        ...{ study: undefined, tasks: [], repetitions: undefined, replay: undefined, imageMap: [] },
        ...{ agent: undefined, model: undefined, reasoningEffort: undefined, buildNetwork: undefined },
      },
      io,
    ),
    projectRoot: io.projectRoot,
    conditions: CONDITIONS,
    out: join(out, "run"),
    concurrency,
    env,
    report: say,
    signal,
  });
  say("4/4 Outcomes");
  const rows = runs.flatMap((sealed) => sealed.rows);
  if (json) {
    const results = runs.map(({ dir, condition, anchor, rows: own }) => ({
      dir,
      condition,
      report_sha256: anchor,
      rows: own,
    }));
    io.out(`${JSON.stringify({ scripted: true, runs: results })}\n`);
  } else io.out(outcomeTable(prepared.plan, rows));
  for (const { dir, condition, anchor } of runs) {
    for (const line of anchorLines(`${condition} in ${dir}`, anchor)) say(line);
    say(`  runner verify ${dir} --report-sha256 ${anchor}`);
  }
  const left = await cleanUpDeadRuns(engine, io.projectRoot, say, signal);
  if (left.length > 0) say(`${left.length} leftovers were removed`);
  return rows.every(({ outcome }) => outcome === "scored") ? 0 : 1;
};
