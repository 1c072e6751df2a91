import { readFileSync } from "node:fs";
import type { ModelAgent } from "../agent/model-agent.ts";
import type { ToolExpectation } from "../base/formats/tool-naming.ts";
import { isUnknown } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { modelExchanges } from "../trace/conversation.ts";
import { judgeRequests } from "../trace/judge-requests.ts";
import { judgeStartup } from "../trace/judge-startup.ts";
import { judgeToolsOffered } from "../trace/judge-tools.ts";
import { lastAnswer } from "../trace/last-answer.ts";
import { readTrace, type Trace } from "../trace/read-trace.ts";
import { serverUnreached } from "../trace/server-unreached.ts";
import { offering } from "../trace/summarise.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { unheardModel } from "../trace/unheard.ts";
import { readStepStartup } from "./agent-evidence.ts";
import { endDetail } from "./end-detail.ts";
import { TrialFailure } from "./failure.ts";
import type { GatewayEvidence } from "./gateway-evidence.ts";
import { namingOf, serverTools } from "./gateway-plan.ts";
import type { Cause, Outcome, StepRecord } from "./record.ts";
import type { AgentRun } from "./run-agent.ts";
import type { TrialSpec } from "./spec.ts";

/** Largest trace that is parsed whole. */
const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/**
 * Turns what ended the agent into the trial's outcome where that is not the agent's own doing: the provider failed, the condition was
 * violated, the gateway broke.
 * @throws TrialFailure
 */
export function judgeTrouble(run: AgentRun): void {
  const { trouble, meaning } = run;
  switch (trouble?.notice) {
    case "provider-error": {
      const status = trouble.status === null ? "" : ` (status ${trouble.status})`;
      throw new TrialFailure("provider_error", `PROVIDER_${code(trouble.cause)}`, `${trouble.detail}${status}`);
    }
    case "condition-violation":
      throw new TrialFailure("invalid_condition", `CONDITION_${code(trouble.kind)}`, trouble.detail);
    case "fatal":
      throw new TrialFailure("infra_error", `GATEWAY_${code(trouble.code)}`, trouble.detail);
    case "died":
      throw new TrialFailure("infra_error", "GATEWAY_DIED", trouble.detail);
    default:
      break;
  }
  if (meaning?.kind === "condition") throw new TrialFailure("invalid_condition", "MCP_NOT_USABLE", meaning.detail);
  if (meaning?.kind === "provider") throw new TrialFailure("provider_error", "PROVIDER_FAILED", meaning.detail);
}

/** A trial's trace, and the reader of what it names. */
export interface ReadTrace {
  readonly trace: Trace;
  readonly readObject: ReadObject;
}

const OTHER_MODEL = "the agent asked for another model than the study's, so none of its requests with tools went out";
const WHAT_TO_DO =
  "Name in the study (model.id) the model that the agent asks for, or one that it asks for under its own name";

type Failure = { readonly outcome: Exclude<Outcome, "scored">; readonly cause: Cause };

/**
 * What the gateway's evidence makes of a trial that has ended: its condition first, then the model that was never heard. A failure that
 * was found before stays where neither says more.
 */
export async function judgeEvidence(
  store: Pick<ObjectStore, "readAll">,
  spec: TrialSpec,
  read: ReadTrace,
  steps: readonly StepRecord[],
  failure: Failure | null,
): Promise<Failure | null> {
  // The agent's own words for a failure of its provider: the gateway saw none.
  const told = failure?.cause.code === "PROVIDER_FAILED";
  // That a server had ended says more than what the agent lacked then.
  if (failure !== null && !told && failure.outcome !== "invalid_condition") return failure;
  if (failure?.cause.code === "MCP_SERVER_DIED") return failure;
  const judged = await judgeCondition(store, spec, read, steps);
  if (judged !== null || (failure !== null && !told)) return judged ?? failure;
  const unheard = unheardModel(read.trace.events, read.readObject);
  return unheard === null ? failure : { outcome: "provider_error", cause: unheard };
}

/**
 * Holds what the agent's start-up event says that it has, and the tools that the model was offered, as the gateway recorded them, against
 * the condition.
 */
export async function judgeCondition(
  store: Pick<ObjectStore, "readAll">,
  spec: TrialSpec,
  { trace, readObject }: ReadTrace,
  steps: readonly StepRecord[],
): Promise<Failure | null> {
  const { agent, condition } = spec;
  if (agent.kind !== "model" || condition === "none") return null;
  if (!trace.complete) {
    return {
      outcome: "infra_error",
      cause: { code: "TRACE_TRUNCATED", detail: trace.problem ?? "the trace has no end" },
    };
  }
  const invalid = (why: string, detail: string) =>
    ({ outcome: "invalid_condition", cause: { code: why, detail } }) as const;
  const expectation = { condition, serverTools: serverTools(spec), naming: namingOf(agent.agent, spec) };
  const { verdict, problems } = judgeToolsOffered(trace.events, expectation);
  if (verdict !== "as-expected") {
    const refused = trace.events.findLast((event) => event.type === "model-refused");
    if (verdict === "no-evidence" && refused?.reason === "wrong-model")
      return invalid("CONDITION_MODEL", `${OTHER_MODEL}: ${refused.detail}. ${WHAT_TO_DO}`);
    const unreached = condition === "treatment" ? serverUnreached(trace.events, readObject) : null;
    if (unreached !== null) return invalid("MCP_NOT_REACHED", unreached);
    if (verdict === "violated") return invalid("CONDITION_TOOLS", problems.join("; "));
    return invalid(
      "CONDITION_UNPROVEN",
      `no model request offered tools, so nothing shows which condition the agent had${refused === undefined ? "" : `; the last request was refused: ${refused.detail}`}`,
    );
  }
  const { reasoningEffort } = agent;
  const [different] = judgeRequests(trace.events, readObject, { condition, reasoningEffort });
  if (different !== undefined) return invalid(`CONDITION_${code(different.kind)}`, different.detail);
  const said = await startupProblems(store, agent.agent, spec.mcp?.name ?? "", steps, expectation);
  return said.length === 0 ? null : invalid("CONDITION_STARTUP", said.join("; "));
}

/** What the start-up events of a trial's agent say against its condition; agents without one say nothing. */
export async function startupProblems(
  store: Pick<ObjectStore, "readAll">,
  agent: ModelAgent,
  server: string,
  steps: readonly StepRecord[],
  expectation: ToolExpectation,
): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, agentOutput } of steps) {
    if (agentOutput === null) continue;
    const startup = await readStepStartup(store, agent, server, agentOutput.stdout);
    const found = isUnknown(startup) ? [] : judgeStartup(startup, expectation);
    problems.push(...found.map((problem) => `by the agent's own start-up event of step ${name}, ${problem}`));
  }
  return problems;
}

/** Says in the record why the last step's agent ended by itself, where the boundary shows it. */
export function describeLastEnd({ trace, readObject }: ReadTrace, steps: readonly StepRecord[]): void {
  const end = steps.at(-1)?.agentEnd;
  if (end?.by !== "self" || end.exitCode === null || !trace.complete) return;
  const last = lastAnswer(modelExchanges(trace.events, readObject), offering(trace.events));
  end.detail = endDetail({ kind: "self", detail: end.detail }, last);
}

/** Reads the trace of a trial that has just ended. */
export async function readTrialTrace(
  store: Pick<ObjectStore, "readAll" | "path">,
  { trace, objects }: GatewayEvidence,
): Promise<ReadTrace> {
  const known = new Set(objects.map(({ digest }) => digest));
  return {
    trace: readTrace(await store.readAll(trace, MAX_TRACE_BYTES), "the gateway's trace"),
    // The bytes are held against their digest where they are read.
    readObject: (hex) => (known.has(`sha256:${hex}`) ? readFileSync(store.path(`sha256:${hex}`)) : undefined),
  };
}

function code(words: string): string {
  return words.replaceAll("-", "_").toUpperCase();
}
