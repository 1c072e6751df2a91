import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { findAgent } from "../agent/registry.ts";
import { type Digest, digestJson } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Engine, EngineFacts } from "../docker/engine.ts";
import { type TaskDigests, taskDigests } from "../task/digests.ts";
import { loadDataset } from "../task/load-dataset.ts";
import type { Task } from "../task/model.ts";
import { refusals } from "../task/refusals.ts";
import type { Cause } from "../trial/record.ts";
import { requireApiKey } from "./api-key.ts";
import { cassetteFor, type LoadedCassette, loadCassettes } from "./cassettes.ts";
import { findDataset } from "./find-dataset.ts";
import { hostRefusals } from "./host-refusals.ts";
import { findOracleEvidence, type OracleEvidence } from "./oracle-evidence.ts";
import { orderTrials } from "./order.ts";
import type { Plan } from "./plan.ts";
import { selectTasks } from "./select-tasks.ts";
import { bindSource } from "./source-binding.ts";
import type { LoadedStudy } from "./study-file.ts";
import {
  type ImageSettings,
  type OwnImages,
  oracleParts,
  type PlannedImages,
  planImages,
  readOwnImages,
  stateDirOf,
} from "./task-images.ts";

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
  /** False: find what is there, build nothing. */
  readonly build: boolean;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
}

/** A task of a plan with what its execution needs in memory. */
export interface PlannedTask {
  readonly task: Task;
  readonly digests: TaskDigests;
  readonly prepared: PlannedImages;
  /** Why its images could not be made; its trials are then sealed as `infra_error` in both conditions. */
  readonly unavailable: Cause | null;
  readonly oracle: OracleEvidence;
}

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
  const dataset = await loadDataset(await findDataset(request.study, request.cwd, images.projectRoot));
  const named = selectTasks(dataset, study.tasks);
  const selected =
    request.tasks.length === 0 ? named : selectTasks({ dir: request.study.path, tasks: named }, request.tasks);
  refuseTasks(selected, study.allowPublicNetwork, engine.facts);
  const model = checkModel(request, agent);
  const surface = await readSurface(request.study.resolve(study.conditions.treatment.mcp.surface));
  const own = await readOwnImages(images, engine);
  const tasks = new Map<string, PlannedTask>();
  const unproven: string[] = [];
  for (const task of selected) {
    const digests = await taskDigests(task);
    const { prepared, unavailable } = await imagesOf(request, own, task);
    const standing = await findOracleEvidence(stateDirOf(images.projectRoot), task.id, oracleParts(digests, prepared));
    if (standing.state === "current")
      tasks.set(task.id, { task, digests, prepared, unavailable, oracle: standing.evidence });
    else if (standing.state === "stale") unproven.push(`${task.id}: stale, because of ${standing.changed.join(", ")}`);
    else unproven.push(`${task.id}: missing`);
  }
  if (unproven.length > 0) {
    throw new RunnerError(
      "refused",
      "ORACLE_EVIDENCE",
      `tasks without current oracle evidence: ${unproven.join("; ")}`,
      {
        hint: `Run \`runner oracle --dataset ${study.dataset} --tasks ${unproven.map((line) => line.split(":", 1)[0]).join(" ")}\`.`,
      },
    );
  }
  const [failed] = [...tasks.values()].flatMap(({ unavailable }) => unavailable ?? []);
  if (failed !== undefined && [...tasks.values()].every(({ unavailable }) => unavailable !== null)) {
    throw new RunnerError("environment", failed.code, `no task's image could be made: ${failed.detail}`);
  }
  const repetitions = request.repetitions ?? study.repetitions;
  const trials = orderTrials([...tasks.keys()], repetitions, study.seed);
  const loaded = model?.replay == null ? [] : await loadCassettes(model.replay);
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
    subset: selected.length !== named.length || repetitions !== study.repetitions,
    runner: { ...(await bindSource(images.projectRoot)) },
    platform: { os: engine.facts.os, arch: engine.facts.arch },
    datasetDigest: digestJson(bindings.map(([id, { digests }]) => ({ id, digest: digests.task }))),
    tasks: bindings.map(([id, { task, digests, prepared, oracle }]) => ({
      id,
      digests: { ...digests },
      environmentImage: prepared.environment.inputDigest,
      verifierImages: prepared.verifiers.map((image) => image?.inputDigest ?? null),
      replaced: prepared.replaced.map(({ from, to }) => ({ from, to })),
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
    repetitions,
    seed: study.seed,
    analysis: study.analysis,
    trials,
  };
  return { plan, own, tasks, cassettes, surface };
}

/** Failures of one build that say nothing about the others'. An index that cannot be reached, say, stops everything instead. */
const OF_ONE_BUILD = ["BUILD_FAILED", "BUILD_TIMEOUT", "BUILD_LOST", "DISK_FULL", "NO_SPACE"];

async function imagesOf(
  { engine, images, report, signal, build }: PlanRequest,
  own: OwnImages,
  task: Task,
): Promise<Pick<PlannedTask, "prepared" | "unavailable">> {
  try {
    return { prepared: await planImages(images, own, engine, task, report, signal, build), unavailable: null };
  } catch (thrown) {
    if (!(thrown instanceof RunnerError) || !OF_ONE_BUILD.includes(thrown.code)) throw thrown;
    report(`${task.id}: its image could not be made, in either condition: ${thrown.message}`);
    const prepared = await planImages(images, own, engine, task, report, signal, false);
    return { prepared, unavailable: { code: thrown.code, detail: thrown.message } };
  }
}

function refuseTasks(tasks: readonly Task[], allowPublicNetwork: boolean, facts: EngineFacts): void {
  const found = tasks.flatMap((task) =>
    [
      ...refusals(task, "execute", { allowPublicNetwork }).map(({ subject, message }) => `${subject}: ${message}`),
      ...hostRefusals(task, facts),
    ].map((need) => `${task.id}: ${need}`),
  );
  if (found.length > 0) {
    throw new RunnerError("refused", "TASK_REFUSED", `tasks that cannot be executed here: ${found.join("; ")}`, {
      hint: "Take them out of the study, or run them where their needs can be met.",
    });
  }
}

interface PlannedModel {
  readonly id: string;
  readonly api: "chat" | "responses" | "messages";
  readonly baseUrl: string | null;
  readonly replay: string | null;
  readonly prices: Record<string, number> | null;
}

function checkModel(request: PlanRequest, agent: ReturnType<typeof findAgent>): PlannedModel | null {
  const { model, agent: named } = request.study.study;
  if (typeof agent === "string") {
    if (request.replay === null) return null;
    throw new RunnerError("usage", "REPLAY_UNUSED", `agent ${agent} asks no model, so there is nothing to replay`, {
      hint: "Leave --replay out, or name an agent that is driven by a model in the study.",
    });
  }
  if (model === undefined) {
    throw new RunnerError(
      "input",
      "MODEL_MISSING",
      `agent ${agent.name} is driven by a model, and the study names none`,
    );
  }
  if (!agent.apis.includes(model.api)) {
    throw new RunnerError(
      "input",
      "API_UNSUPPORTED",
      `agent ${agent.name} speaks ${agent.apis.join(", ")}, the study says ${model.api}`,
    );
  }
  if (named.version !== undefined && named.version !== agent.version) {
    throw new RunnerError(
      "refused",
      "AGENT_VERSION",
      `the study asks for ${agent.name} ${named.version}, the runner has ${agent.version}`,
    );
  }
  const replay =
    request.replay !== null
      ? resolve(request.cwd, request.replay)
      : model.replay === undefined
        ? null
        : request.study.resolve(model.replay);
  if (replay === null) requireApiKey(model, request.images.env);
  return {
    id: model.id,
    api: model.api,
    baseUrl: model.baseUrl ?? null,
    replay,
    prices: model.pricesMicroUsdPerMTok ?? null,
  };
}

async function readSurface(path: string): Promise<Surface> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("input", "SURFACE_MISSING", `the locked surface ${path} does not exist`, {
      hint: "Run `runner images lock` and review what it writes.",
      cause,
    });
  }
  return parseInput<Surface>(surfaceSchema, parseStrictJson(bytes, { source: path }), path);
}

function mcpBinding({ study }: LoadedStudy, surface: Surface): Plan["mcp"] {
  const { mcp } = study.conditions.treatment;
  return {
    name: mcp.name,
    image: mcp.image,
    command: mcp.command,
    url: mcp.url,
    surface: surfaceDigest(surface),
    catalog: surface.catalog === null ? null : { ...surface.catalog },
  };
}

/** The identity of a plan. */
export function planDigest(plan: Plan): Digest {
  return digestJson(plan);
}
