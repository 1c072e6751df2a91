import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { anchorLines } from "../evidence/anchor.ts";
import { requireEmpty } from "../evidence/bundle.ts";
import { parseImageMaps } from "../image/image-map.ts";
import { executePlan } from "../study/execute.ts";
import { makePlan, planDigest } from "../study/make-plan.ts";
import { CONDITIONS, type Condition } from "../study/order.ts";
import { outcomeTable } from "../study/outcome-table.ts";
import { callBudget } from "../study/plan.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadStudy } from "../study/study-file.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import { DEMO_STUDY } from "./demo-study.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.execute> = async (options, _positionals, io) => {
  const maps = parseImageMaps(options.imageMap);
  const study = await loadStudy(
    options.study === undefined ? join(io.projectRoot, DEMO_STUDY) : resolve(io.cwd, options.study),
  );
  const out = resolve(io.cwd, options.out ?? defaultOut(study.study.studyId));
  await requireEmpty(out);
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  if (options.execute) {
    await requireDisk(engine);
    await cleanUpDeadRuns(engine, io.projectRoot, io.say, io.signal);
  }
  const prepared = await makePlan({
    engine,
    study,
    tasks: options.tasks,
    repetitions: options.repetitions ?? null,
    replay: options.replay ?? null,
    images: {
      projectRoot: io.projectRoot,
      maps,
      buildNetwork: (options.buildNetwork ?? "default") as "default" | "none" | "host",
      env: io.env,
    },
    cwd: io.cwd,
    build: options.execute,
    report: io.say,
    signal: io.signal,
  });
  const conditions = options.condition === "both" ? CONDITIONS : [options.condition as Condition];
  const { plan } = prepared;
  if (!options.execute) {
    const budget = callBudget(plan, conditions);
    if (options.json)
      io.out(`${JSON.stringify({ planDigest: planDigest(plan), conditions, callBudget: budget, plan })}\n`);
    else {
      io.out(`plan ${planDigest(plan)} of study ${plan.studyId}${plan.subset ? " (subset)" : ""}\n`);
      for (const trial of plan.trials.filter(({ condition }) => conditions.includes(condition))) {
        io.out(
          `${String(trial.number).padStart(5)}  pair ${trial.pair}  ${trial.task} #${trial.repetition} ${trial.condition}\n`,
        );
      }
      io.out(
        `at most ${budget.modelRequests} model requests, ${budget.tokens} tokens, ${budget.toolCalls} tool calls, ` +
          `${budget.costMicroUsd === null ? "no cost limit" : `${budget.costMicroUsd / 1e6} dollars`}, ${budget.agentSeconds} s of agent time; model: ${plan.model?.source ?? "none"}\n`,
      );
      io.say("Nothing was started. Add --execute to run it.");
    }
    return 0;
  }
  const runs = await executePlan({
    engine,
    study,
    prepared,
    projectRoot: io.projectRoot,
    conditions,
    out,
    concurrency: options.concurrency ?? availableParallelism(),
    env: io.env,
    report: io.say,
    signal: io.signal,
  });
  if (options.json) {
    const results = runs.map(({ dir, condition, anchor, report, rows }) => ({
      dir,
      condition,
      report_sha256: anchor,
      outcomes: report.outcomes,
      rows,
    }));
    io.out(`${JSON.stringify({ planDigest: planDigest(plan), runs: results })}\n`);
  } else
    io.out(
      outcomeTable(
        plan,
        runs.flatMap(({ rows }) => rows),
      ),
    );
  for (const { dir, condition, anchor } of runs)
    for (const line of anchorLines(`${condition} in ${dir}`, anchor)) io.say(line);
  return runs.every(({ rows }) => rows.every(({ outcome }) => outcome === "scored")) ? 0 : 1;
};
