import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { RunnerError } from "../base/errors.ts";
import { requireDisk } from "../docker/disk.ts";
import { ensureEngine } from "../docker/ensure-engine.ts";
import { requireEmpty } from "../evidence/bundle.ts";
import { executePlan } from "../study/execute.ts";
import { makePlan } from "../study/make-plan.ts";
import { CONDITIONS, type Condition } from "../study/order.ts";
import type { Plan } from "../study/plan.ts";
import { readPlanFolder, type WrittenPlan } from "../study/plan-folder.ts";
import { cleanUpDeadRuns } from "../study/run-registry.ts";
import { loadRequestedStudy, planRequestOf } from "../study/run-request.ts";
import { requireFit } from "../study/unbegun.ts";
import type { Run } from "./command.ts";
import { defaultOut } from "./default-out.ts";
import { keepAnchors, requireKeepers } from "./keep-anchors.ts";
import type { OPTIONS } from "./options.ts";
import { type PlanOptions, runRequest } from "./plan-request.ts";
import { printPlan } from "./print-plan.ts";
import { printRuns, sayHowToContinue } from "./print-runs.ts";

export const run: Run<typeof OPTIONS.execute> = async (options, _positionals, io) => {
  const written = options.plan === undefined ? null : await readWritten(options.plan, options, io.cwd);
  const request = {
    ...(written?.request ?? runRequest(options, io)),
    record: options.record === undefined ? null : resolve(io.cwd, options.record),
  };
  const study = await loadRequestedStudy(request, null);
  if (request.record !== null) await requireEmpty(request.record);
  const out = resolve(io.cwd, options.out ?? defaultOut(study.study.studyId));
  await requireFit(out);
  const keepers = await requireKeepers(options, out, io.cwd);
  await using engine = await ensureEngine({ fix: false, report: io.say, signal: io.signal, env: io.env });
  const { projectRoot, env, signal } = io;
  if (options.execute) await requireDisk(engine);
  const planning = {
    ...planRequestOf(request, study, { engine, projectRoot, env, build: options.execute, report: io.say, signal }),
    ...(written === null ? {} : { planned: written.plan }),
  };
  // What dead runs left is none of the plan's, and goes while it is made.
  const cleaning = options.execute ? cleanUpDeadRuns(engine, projectRoot, io.say, signal) : Promise.resolve([]);
  const [prepared] = await Promise.all([makePlan(planning), cleaning]).finally(() => Promise.allSettled([cleaning]));
  requireLive(request.record, prepared.plan);
  const conditions = options.condition === "both" ? CONDITIONS : [options.condition as Condition];
  const { plan } = prepared;
  if (!options.execute) {
    printPlan(plan, conditions, options.json, io);
    if (!options.json) io.say("Nothing was started. Add --execute to run it.");
    return 0;
  }
  const concurrency = options.concurrency ?? availableParallelism();
  const runs = await executePlan({
    ...{ engine, study, prepared, request, projectRoot, env, signal, concurrency, report: io.say },
    conditions,
    out,
  }).catch((thrown: unknown) => sayHowToContinue(thrown, out, io));
  const kept = runs.map((each) => ({ ...each, supersedes: null }));
  printRuns(plan, kept, options.json, io);
  await keepAnchors(kept, keepers, io);
  return runs.every(({ rows }) => rows.every(({ outcome }) => outcome === "scored")) ? 0 : 1;
};

/** Only a live conversation is worth recording. */
function requireLive(record: string | null, { model }: Plan): void {
  if (record === null || model?.source === "live") return;
  throw new RunnerError(
    "usage",
    "RECORD_UNUSED",
    model === null ? "this agent asks no model, so there is nothing to record" : "a replay cannot be recorded",
    { hint: "Leave --record out, or run a study whose model answers live." },
  );
}

/** A plan that was written down says what is run; nothing beside it may say something else. */
async function readWritten(path: string, options: PlanOptions, cwd: string): Promise<WrittenPlan> {
  const given = Object.entries({
    "--study": options.study,
    "--tasks": options.tasks.length > 0 ? options.tasks : undefined,
    "--repetitions": options.repetitions,
    "--replay": options.replay,
    "--agent": options.agent,
    "--model": options.model,
    "--reasoning-effort": options.reasoningEffort,
    "--image-map": options.imageMap.length > 0 ? options.imageMap : undefined,
    "--build-network": options.buildNetwork,
  }).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (given.length === 0) return readPlanFolder(resolve(cwd, path));
  throw new RunnerError("usage", "USAGE", `--plan already says what ${given.join(", ")} would`, {
    hint: "Leave them out, or make another plan with `runner plan`.",
  });
}
