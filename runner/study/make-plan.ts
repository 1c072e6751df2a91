import { findAgent } from "../agent/registry.ts";
import { type Digest, digestJson } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import type { Surface } from "../base/formats/surface.ts";
import { loadDataset } from "../task/load-dataset.ts";
import { imagesForAgent } from "./agent-images.ts";
import { bindEnvironment } from "./bound-environment.ts";
import { cassetteFor, type LoadedCassette, loadCassettes } from "./cassettes.ts";
import { findDataset } from "./find-dataset.ts";
import { orderTrials } from "./order.ts";
import type { Plan } from "./plan.ts";
import { requireSamePlan } from "./plan-changes.ts";
import { checkModel } from "./plan-model.ts";
import type { PlanRequest } from "./plan-request.ts";
import { mcpBinding, readSurface } from "./plan-surface.ts";
import { type PlannedTask, planTasks, refuseTasks, taskInputs } from "./plan-tasks.ts";
import { selectTasks } from "./select-tasks.ts";
import { bindSource } from "./source-binding.ts";
import { type OwnImages, readOwnImages, stateDirOf } from "./task-images.ts";

/** A plan with what its execution needs in memory. */
export interface PreparedPlan {
  readonly plan: Plan;
  readonly own: OwnImages;
  readonly tasks: ReadonlyMap<string, PlannedTask>;
  /** By trial number; empty for a live model. */
  readonly cassettes: ReadonlyMap<number, LoadedCassette>;
  readonly surface: Surface;
}

/**
 * Expands a study to its plan: loads and digests the tasks, resolves the images, demands current oracle evidence for each task, binds
 * cassettes, surface, agent and source, and draws the order. Nothing is started.
 * @throws RunnerError naming everything that stands against it.
 */
export async function makePlan(request: PlanRequest): Promise<PreparedPlan> {
  const { engine, images } = request;
  const { study } = request.study;
  const agent = findAgent(study.agent.name);
  const model = checkModel(request, agent);
  const [dataset, surface, allImages, loaded, source] = await Promise.all([
    findDataset(request.study, request.cwd, images.projectRoot).then(loadDataset),
    readSurface(request.study.resolve(study.conditions.treatment.mcp.surface)),
    readOwnImages(images, engine, study.agent.name),
    model?.replay == null ? [] : loadCassettes(model.replay),
    bindSource(images.projectRoot),
  ]);
  const named = selectTasks(dataset, study.tasks);
  const selected =
    request.tasks.length === 0 ? named : selectTasks({ dir: request.study.path, tasks: named }, request.tasks);
  refuseTasks(selected, study.allowPublicNetwork, engine.facts);
  requireCatalog(request, surface);
  const own = imagesForAgent(allImages, agent);
  const tasks = await planTasks(request, own, selected);
  const repetitions = request.repetitions ?? study.repetitions;
  const trials = orderTrials([...tasks.keys()], repetitions, study.seed);
  const cassettes = new Map<number, LoadedCassette>();
  if (model?.replay != null) {
    for (const trial of trials) cassettes.set(trial.number, cassetteFor(loaded, trial, model.api));
  }
  const sources = new Set([...cassettes.values()].map(({ source }) => source));
  const bindings = [...tasks.entries()];
  const plan: Plan = {
    schemaVersion: "1",
    kind: "plan",
    studyId: study.studyId,
    studyDigest: request.study.digest,
    evidenceClass: study.evidenceClass,
    causalClaimAuthorized: false,
    subset: selected.length !== named.length || repetitions !== study.repetitions || request.study.overridden,
    runner: { ...source },
    platform: { os: engine.facts.os, arch: engine.facts.arch },
    datasetDigest: digestJson(bindings.map(([id, { digests }]) => ({ id, digest: digests.task }))),
    tasks: bindings.map(([id, { task, digests, prepared, oracle }]) => ({
      ...taskInputs(id, digests, prepared),
      oracle: oracle.key,
      reward: { key: task.runner.rewardKey, strategy: task.rewardStrategy, steps: task.steps.length },
    })),
    images: Object.fromEntries(
      Object.values(own.lock.images).map(({ name, inputDigest, configDigest, packagesDigest }) => [
        name,
        { inputDigest, configDigest, packagesDigest },
      ]),
    ),
    agent: {
      name: study.agent.name,
      version: typeof agent === "string" ? null : agent.version,
      reasoningEffort: study.agent.reasoningEffort ?? null,
      command: study.agent.command ?? null,
    },
    model:
      model === null
        ? null
        : {
            id: model.id,
            api: model.api,
            baseUrl: model.replay === null ? model.baseUrl : null,
            source: model.replay === null ? "live" : sources.has("scripted") ? "scripted" : "replayed",
            prices: model.prices,
          },
    cassettes: Object.fromEntries([...cassettes].map(([number, { digest }]) => [String(number), digest])),
    mcp: mcpBinding(request.study, surface),
    budgets: study.budgets,
    expectedOperations: study.expectedOperations ?? {},
    allowPublicNetwork: study.allowPublicNetwork,
    allowEnvironment: study.allowEnvironment,
    ...(study.allowEnvironment.length === 0
      ? {}
      : { environment: await bindEnvironment(stateDirOf(images.projectRoot), study.allowEnvironment, images.env) }),
    repetitions,
    seed: study.seed,
    analysis: study.analysis,
    trials,
  };
  if (request.planned !== undefined) requireSamePlan(request.planned, plan);
  return { plan, own, tasks, cassettes, surface };
}

/** The locked surface and the study name the same catalog, or neither names one. @throws RunnerError `CATALOG_MISMATCH`. */
function requireCatalog({ study: { path, study } }: PlanRequest, { catalog }: Surface): void {
  const { mcp } = study.conditions.treatment;
  const [named, locked] = [mcp.catalog ?? null, catalog?.uri ?? null];
  if (named === locked) return;
  throw new RunnerError(
    "input",
    "CATALOG_MISMATCH",
    `${path}: conditions.treatment.mcp.catalog is ${JSON.stringify(named)}, the locked surface ${mcp.surface} has ${JSON.stringify(locked)}`,
    { hint: "Name the catalog that was locked, or lock the surface again with `runner images lock --surface`." },
  );
}

/** The identity of a plan. */
export function planDigest(plan: Plan): Digest {
  return digestJson(plan);
}
