import { isDeepStrictEqual } from "node:util";
import type { ExitMeaning } from "../agent/model-agent.ts";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import { type Budgets, budgetsSchema, type Prices, pricesSchema } from "../base/formats/budgets.ts";
import { surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import type { TraceBody } from "../base/formats/trace-body.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { isUnknown } from "../base/unknown.ts";
import { parseInput } from "../base/zod-input.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { modelExchanges } from "../trace/conversation.ts";
import { judgeRequests } from "../trace/judge-requests.ts";
import { judgeToolsOffered } from "../trace/judge-tools.ts";
import { lastAnswer } from "../trace/last-answer.ts";
import { readTrace, type Trace } from "../trace/read-trace.ts";
import { recheckTrace } from "../trace/recheck-trace.ts";
import { offering } from "../trace/summarise.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { unheardModel } from "../trace/unheard.ts";
import { endEvidence } from "../trial/agent-evidence.ts";
import { endDetail } from "../trial/end-detail.ts";
import { gatewayBudgets } from "../trial/gateway-plan.ts";
import { startupProblems } from "../trial/judge-condition.ts";
import type { TrialRecord } from "../trial/record.ts";
import { isGraded, rederiveRewards } from "../trial/rederive.ts";
import { trialTrajectory } from "../trial/trajectory.ts";
import type { PlannedTrial } from "./order.ts";
import type { Plan, TaskBinding } from "./plan.ts";
import { deriveRow, objectReader, type RowContext, type TrialRow } from "./trial-row.ts";

type Store = Pick<ObjectStore, "readAll" | "path">;

/** The plan's limits as a gateway is started with them. */
export interface BoundLimits {
  readonly prices: Prices | null;
  readonly budgets: Budgets;
}

/** @throws RunnerError `INPUT_INVALID` for a plan whose prices or budgets are none. */
export function limitsOf({ model, budgets }: Plan): BoundLimits {
  const prices = model?.prices ?? null;
  return {
    prices: prices === null ? null : parseInput(pricesSchema, prices, "the plan's prices"),
    budgets: parseInput(budgetsSchema, budgets, "the plan's budgets"),
  };
}

/** What one sealed trial is held against. */
export interface TrialExpectation {
  readonly plan: Plan;
  readonly planned: PlannedTrial;
  readonly binding: TaskBinding;
  readonly attempt: number;
  readonly context: RowContext;
  readonly limits: BoundLimits;
  /** The locked surface without its catalog, which is read once a run and not in every trial. */
  readonly surface: Digest;
  /** Digests of the surfaces that were read before, by the object that holds them; filled on the way. */
  readonly surfaces: Map<Digest, Digest>;
}

const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/**
 * Holds a record against its plan and derives everything again that its bytes allow: the rewards, the condition, the trace's own figures.
 * Gives the trial's row, and a sentence for everything that differs.
 */
export async function checkTrial(
  store: Store,
  record: TrialRecord,
  expected: TrialExpectation,
): Promise<{ readonly reasons: readonly string[]; readonly row: TrialRow }> {
  const reasons = [
    ...checkBindings(record, expected),
    ...(await rederiveRewards(store, record, {
      ...expected.binding.reward,
      shared: expected.binding.verifierImages.map((image) => image === null),
    })),
  ];
  const trace =
    record.gateway === null ? null : readTrace(await store.readAll(record.gateway.trace, MAX_TRACE_BYTES), "the trace");
  const readObject = objectReader(store, record);
  if (trace !== null) {
    reasons.push(...checkScope(record, expected, trace));
    reasons.push(...checkObjects(record, trace));
    reasons.push(...(await checkServer(store, record, expected, trace)));
    reasons.push(...recheckTrace(trace.events, readObject).map((reason) => `the trace: ${reason}`));
  }
  const meaning = await endMeaning(store, record, expected.context);
  const said = [
    ...(await startupOf(store, record, expected.context)),
    ...(trace === null ? [] : settingsOf(record, expected, trace, readObject)),
  ];
  reasons.push(
    ...checkGraded(record, trace, readObject),
    ...checkEnd(record, meaning, trace, readObject),
    ...checkOutcome(record, expected, trace, readObject, meaning, said),
  );
  if (trace !== null) reasons.push(...(await checkTrajectory(store, record, expected.context, trace, readObject)));
  const row = await deriveRow(store, record, expected.context, trace === null ? null : { trace, readObject });
  return { reasons, row };
}

function checkBindings(record: TrialRecord, { plan, planned, binding, attempt }: TrialExpectation): string[] {
  const bound: [string, unknown, unknown][] = [
    ["number", record.number, planned.number],
    ["attempt", record.attempt, attempt],
    ["task", record.task, planned.task],
    ["task digest", record.taskDigest, binding.digests.task],
    ["condition", record.condition, planned.condition],
    ["repetition", record.repetition, planned.repetition],
    ["agent", record.agent.name, plan.agent.name],
    ["agent version", record.agent.version, plan.agent.version],
    ["model source", record.modelSource, plan.model?.source ?? "none"],
  ];
  return bound.flatMap(([name, here, there]) =>
    here === there ? [] : [`${name} is ${JSON.stringify(here)}, planned is ${JSON.stringify(there)}`],
  );
}

function checkScope(record: TrialRecord, expected: TrialExpectation, { events }: Trace): string[] {
  const { plan } = expected;
  const [start] = events;
  if (start?.type !== "start") return ["the trace has no start"];
  const { scope } = start;
  const reasons: string[] = [];
  if (
    scope.task !== record.task ||
    scope.condition !== record.condition ||
    scope.repetition !== record.repetition ||
    !start.trialId.endsWith(`-${record.condition}-${record.number}-${record.attempt}`)
  ) {
    reasons.push(
      `the trace belongs to another trial: ${start.trialId}, task ${scope.task}, repetition ${scope.repetition}`,
    );
  }
  const model = plan.model === null ? null : { id: plan.model.id, source: plan.model.source };
  const seen = start.model === null ? null : { id: start.model.id, source: start.model.source };
  if (model?.id !== seen?.id || model?.source !== seen?.source)
    reasons.push(`the trace was made with the model ${JSON.stringify(seen)}, planned is ${JSON.stringify(model)}`);
  const { prices } = expected.limits;
  const budgets = gatewayBudgets(expected.limits.budgets, expected.binding.reward.steps);
  if (!isDeepStrictEqual(start.prices, prices))
    reasons.push(
      `the trace was made with the prices ${JSON.stringify(start.prices)}, planned are ${JSON.stringify(prices)}`,
    );
  if (!isDeepStrictEqual(start.budgets, budgets))
    reasons.push(
      `the trace was made with the budgets ${JSON.stringify(start.budgets)}, planned are ${JSON.stringify(budgets)}`,
    );
  const cassette = plan.cassettes[String(record.number)] ?? null;
  if (start.cassetteDigest !== cassette)
    reasons.push(`the trace was made with the cassette ${start.cassetteDigest}, planned is ${cassette}`);
  return reasons;
}

/** A whole trace and its objects name each other; of a torn trace the objects may go further. */
function checkObjects(record: TrialRecord, trace: Trace): string[] {
  const listed = new Set<string>(record.gateway?.objects.map(({ digest }) => digest));
  const named = new Set<string>();
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const { object, digest } = value as Partial<TraceBody>;
    if (object === true && digest !== undefined) named.add(digest);
    for (const member of Object.values(value)) walk(member);
  };
  walk(trace.events);
  const reasons = [...named].flatMap((digest) =>
    listed.has(digest) ? [] : [`the trace names object ${digest}, and the record does not list it`],
  );
  if (!trace.complete) return reasons;
  const spare = [...listed].filter((digest) => !named.has(digest));
  return [...reasons, ...spare.map((digest) => `the record lists object ${digest}, and the trace does not name it`)];
}

async function checkServer(
  store: Store,
  record: TrialRecord,
  { surface: locked, surfaces }: TrialExpectation,
  trace: Trace,
): Promise<string[]> {
  const { gateway, condition, outcome } = record;
  const [start] = trace.events;
  if (gateway === null || start?.type !== "start") return [];
  const preflights = trace.events.filter((event) => event.type === "preflight");
  if (condition !== "treatment") {
    const seen = trace.events.find(({ type }) =>
      ["mcp-request", "mcp-frame", "mcp-response", "mcp-end"].includes(type),
    );
    return start.mcpUrl !== null || gateway.surface !== null || preflights.length > 0 || seen !== undefined
      ? [`control saw an MCP server: ${start.mcpUrl ?? seen?.type ?? "a surface was recorded"}`]
      : [];
  }
  const reasons: string[] = [];
  if (start.mcpUrl === null) reasons.push("the treatment's gateway had no MCP server");
  if (outcome !== "scored") return reasons;
  const agent = trace.events.findIndex((event) => event.type === "phase" && event.phase === "agent-started");
  const before = preflights.filter((event) => trace.events.indexOf(event) < agent).at(-1);
  if (before === undefined || !before.ok || before.surfaceDigest !== locked)
    reasons.push("the trace has no preflight that saw the locked surface before the agent started");
  if (gateway.surface === null) reasons.push("it keeps no surface of its MCP server");
  else {
    const seen = surfaces.get(gateway.surface.digest) ?? (await readSurfaceDigest(store, gateway.surface));
    surfaces.set(gateway.surface.digest, seen);
    if (seen !== locked) reasons.push("its MCP server's surface is not the locked one");
  }
  return reasons;
}

/** Why the last step's agent ended, read again from what it printed; null when it did not end by itself. */
async function endMeaning(
  store: Store,
  { steps }: TrialRecord,
  { agent, server }: RowContext,
): Promise<ExitMeaning | null> {
  const last = steps.at(-1);
  const exitCode = last?.agentEnd?.exitCode ?? null;
  if (agent === null || exitCode === null || last?.agentOutput == null) return null;
  return agent.explainEnd(await endEvidence(store, agent, server, exitCode, last.agentOutput));
}

/** The trajectory that the evidence gives is the one that is kept. */
async function checkTrajectory(
  store: Store,
  record: TrialRecord,
  { agent, server, serverTools: tools }: RowContext,
  trace: Trace,
  readObject: ReadObject,
): Promise<string[]> {
  const { trajectory: kept } = record;
  if (kept === undefined) return [];
  if (agent === null) return ["it has a trajectory, and no model drives its agent"];
  const derived = await trialTrajectory(store, agent, { name: server, tools }, record, { trace, readObject });
  const digest = isUnknown(derived) ? null : digestBytes(canonicalBytes(derived));
  return digest === (isUnknown(kept) ? null : kept.digest)
    ? []
    : ["its trajectory does not come out of its evidence again"];
}

/** What the agent's start-up event says against the condition. */
async function startupOf(store: Store, record: TrialRecord, context: RowContext): Promise<string[]> {
  const { agent, server, serverTools } = context;
  const { condition, steps } = record;
  if (agent === null || condition === "none") return [];
  return startupProblems(store, agent, server, steps, { condition, serverTools, naming: agent.naming(server) });
}

/** What else than the tools the requests carried against the condition. */
function settingsOf(
  { condition }: TrialRecord,
  { plan, context }: TrialExpectation,
  { events }: Trace,
  readObject: ReadObject,
): string[] {
  if (context.agent === null || condition === "none") return [];
  const { reasoningEffort } = plan.agent;
  return judgeRequests(events, readObject, { condition, reasoningEffort }).map(({ detail }) => detail);
}

function checkEnd(
  { steps }: TrialRecord,
  meaning: ExitMeaning | null,
  trace: Trace | null,
  readObject: ReadObject,
): string[] {
  const end = steps.at(-1)?.agentEnd;
  if (end == null || meaning === null) return [];
  const by = meaning.kind === "self" ? "self" : "crash";
  const detail =
    trace?.complete === true
      ? endDetail(meaning, lastAnswer(modelExchanges(trace.events, readObject), offering(trace.events)))
      : meaning.detail;
  return end.by === by && end.detail === detail
    ? []
    : [`its agent's end is ${end.by} (${end.detail}), and what it left says ${by} (${detail})`];
}

async function readSurfaceDigest(store: Store, ref: ObjectRef): Promise<Digest> {
  const source = "the trial's surface";
  return surfaceDigest(parseInput(surfaceSchema, parseStrictJson(await store.readAll(ref), { source }), source));
}

/** What these outcomes say happened before the verifier of the last step gave its verdict. */
function checkGraded({ outcome, steps }: TrialRecord, trace: Trace | null, readObject: ReadObject): string[] {
  // That no answer ever came is seen when the trace is whole, which is after the verdict.
  if (outcome === "provider_error" && trace !== null && unheardModel(trace.events, readObject) !== null) return [];
  const before = outcome === "provider_error" || outcome === "invalid_task";
  return before && steps.at(-1)?.rewards != null ? [`its outcome is ${outcome} although its last step was graded`] : [];
}

/** An outcome that drops a pair, or has a trial made again, needs evidence as much as a score does. */
function checkOutcome(
  record: TrialRecord,
  { context, binding }: TrialExpectation,
  trace: Trace | null,
  readObject: ReadObject,
  meaning: ExitMeaning | null,
  said: readonly string[],
): string[] {
  const { outcome, condition } = record;
  const { agent, server, serverTools } = context;
  const failed = outcome === "infra_error" || outcome === "interrupted";
  // A step that missed its gate ends a trial early, and so does what fails between two steps: fewer steps prove nothing.
  const whole = record.steps.length === binding.reward.steps && isGraded(record);
  // Where there is a trace, the runner still had to take it when everything was graded.
  if (failed && whole && (agent === null || trace?.complete === true))
    return [`its outcome is ${outcome} although its evidence is whole and graded`];
  if (agent === null || condition === "none") {
    return outcome === "provider_error" || outcome === "invalid_condition"
      ? [`its outcome is ${outcome}, and no model drives its agent`]
      : [];
  }
  const naming = agent.naming(server);
  if (trace === null) return outcome === "scored" ? ["it is scored although its gateway left no trace"] : [];
  const judged = judgeToolsOffered(trace.events, { condition, serverTools, naming });
  const unheard = unheardModel(trace.events, readObject);
  const has = (type: (typeof trace.events)[number]["type"]) => trace.events.some((event) => event.type === type);
  switch (outcome) {
    case "scored":
      if (!trace.complete)
        return [`it is scored although its trace is not complete: ${trace.problem ?? "it has no end"}`];
      if (said.length > 0) return [`it is scored although ${said.join("; ")}`];
      if (unheard !== null) return [`it is scored although ${unheard.detail}`];
      return judged.verdict === "as-expected"
        ? []
        : [`the trace does not prove the condition: ${judged.problems.join("; ") || "no request offered tools"}`];
    case "provider_error":
      return has("provider-error") || meaning?.kind === "provider" || unheard !== null || !trace.complete
        ? []
        : ["its outcome is provider_error, and the trace shows no failure of the provider"];
    case "invalid_condition": {
      const unseen = condition === "treatment" && !trace.events.some((event) => event.type === "preflight" && event.ok);
      return judged.verdict !== "as-expected" ||
        has("condition-violation") ||
        meaning?.kind === "condition" ||
        said.length > 0 ||
        // That a container had ended is what the runner saw of it; no trace can show it.
        record.cause?.code === "MCP_SERVER_DIED" ||
        unseen ||
        !trace.complete
        ? []
        : ["its outcome is invalid_condition, and the trace proves the condition"];
    }
    default:
      return [];
  }
}
