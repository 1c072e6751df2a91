import type { ExitMeaning } from "../agent/model-agent.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { modelExchanges } from "../trace/conversation.ts";
import { judgeRequests } from "../trace/judge-requests.ts";
import { judgeToolsOffered } from "../trace/judge-tools.ts";
import { lastAnswer } from "../trace/last-answer.ts";
import type { Trace } from "../trace/read-trace.ts";
import { offering } from "../trace/summarise.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { unheardModel } from "../trace/unheard.ts";
import { endEvidence } from "../trial/agent-evidence.ts";
import { endDetail } from "../trial/end-detail.ts";
import { startupProblems } from "../trial/judge-condition.ts";
import type { TrialRecord } from "../trial/record.ts";
import { isGraded } from "../trial/rederive.ts";
import type { TrialExpectation } from "./trial-expectation.ts";
import type { RowContext } from "./trial-row.ts";

type Store = Pick<ObjectStore, "readAll" | "path">;

/** Whether a trial's outcome, and its agent's end, are what the trial left says. `trace` is null where its gateway left none. */
export async function checkEnding(
  store: Store,
  record: TrialRecord,
  expected: TrialExpectation,
  trace: Trace | null,
  readObject: ReadObject,
): Promise<string[]> {
  const meaning = await endMeaning(store, record, expected.context);
  const said = [
    ...(await startupOf(store, record, expected.context)),
    ...(trace === null ? [] : settingsOf(record, expected, trace, readObject)),
  ];
  return [
    ...checkGraded(record, trace, readObject),
    ...checkEnd(record, meaning, trace, readObject),
    ...checkOutcome(record, expected, trace, readObject, meaning, said),
  ];
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
