import type { AtifStep, AtifToolCall, AtifTrajectory } from "../base/formats/atif.ts";
import { isByModel } from "../base/formats/conversation.ts";
import { plainJson } from "../base/formats/plain-json.ts";
import { type AgentTranscript, type TranscriptCall, transcriptCalls } from "../base/formats/transcript.ts";
import { isObject } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import { type ModelExchange, modelExchanges } from "./conversation.ts";
import type { Trace } from "./read-trace.ts";
import { offering, type TraceMetrics } from "./summarise.ts";
import type { ReadObject } from "./trace-bodies.ts";

export interface TrajectoryInput {
  readonly trace: Trace;
  readonly readObject: ReadObject;
  /** Of every step of the task whose agent was run, in order. */
  readonly transcripts: readonly Known<AgentTranscript>[];
  readonly metrics: TraceMetrics;
  readonly agent: { readonly name: string; readonly version: string };
  /** Identifies the trial. */
  readonly trial: Readonly<Record<string, string | number>>;
}

const NOTES =
  "Steps, calls and observations are the agent's own transcript; where that has no ids or arguments of a call, they are the model's answer as a gateway recorded it. Tokens and cost are the gateway's.";

/**
 * A trial's trajectory in Harbor's format, from the agent's transcript and the gateway's record. The same evidence gives the same trajectory.
 */
export function buildTrajectory(input: TrajectoryInput): Known<AtifTrajectory> {
  const { trace, readObject, transcripts, metrics, agent, trial } = input;
  if (!trace.complete) return unknown("truncated", trace.problem ?? "the trace is not complete");
  const known: AgentTranscript[] = [];
  for (const transcript of transcripts) {
    if (isUnknown(transcript)) return transcript;
    known.push(transcript);
  }
  const start = trace.events.find((event) => event.type === "start");
  if (start?.type !== "start" || start.model === null) return unknown("missing", "the trace names no model");
  const offered = offering(trace.events);
  const exchanges = modelExchanges(trace.events, readObject).filter(({ request }) => offered.has(request.exchange));
  if (exchanges.length === 0) return unknown("missing", "no model request offered tools");
  const ids = new Map<TranscriptCall, { readonly id: string | null; readonly arguments: string | null }>();
  const written = writtenCalls(exchanges);
  for (const call of known.flatMap(transcriptCalls)) ids.set(call, takeWritten(written, call));
  const instructions = instructionsOf(trace, exchanges);
  const steps = instructions.flatMap((instruction, index): Omit<AtifStep, "step_id">[] => [
    ...(instruction === null ? [] : [{ source: "user", message: instruction } as const]),
    ...(known[index]?.steps ?? []).map(({ source, text, reasoning, calls, at }): Omit<AtifStep, "step_id"> => {
      const shown = calls.map((call, index) => ({ call, shown: showCall(call, ids.get(call), index) }));
      const results = shown.flatMap(({ call, shown: { tool_call_id: source_call_id } }) =>
        call.result === null ? [] : [{ source_call_id, content: call.result }],
      );
      return {
        ...(at === null ? {} : { timestamp: at }),
        source,
        message: text,
        ...(reasoning === null || source !== "agent" ? {} : { reasoning_content: reasoning }),
        ...(shown.length === 0 ? {} : { tool_calls: shown.map(({ shown: call }) => call) }),
        ...(results.length === 0 ? {} : { observation: { results } }),
      };
    }),
  ]);
  const { tokens, costMicroUsd } = metrics.model;
  const figure = (value: Known<number>): number | null => (isUnknown(value) ? null : value);
  const cost = figure(costMicroUsd);
  return {
    schema_version: "ATIF-v1.7",
    session_id: start.trialId,
    agent: { ...agent, model_name: start.model.id },
    steps: steps.map((step, index) => ({ step_id: index + 1, ...step })),
    notes: NOTES,
    final_metrics: {
      total_prompt_tokens: figure(tokens.input),
      total_completion_tokens: figure(tokens.output),
      total_cached_tokens: figure(tokens.cachedInput),
      total_cost_usd: cost === null ? null : cost / 1e6,
      total_steps: steps.length,
    },
    extra: { ...trial, model_source: start.model.source },
  };
}

interface Written {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

function writtenCalls(exchanges: readonly ModelExchange[]): Written[] {
  return exchanges.flatMap(({ answer }) =>
    isUnknown(answer) ? [] : answer.items.flatMap((item) => (item.kind === "tool-call" ? [item] : [])),
  );
}

/** Takes the model's call that a transcript's call is, so that the next equal one gets another. */
function takeWritten(written: Written[], call: TranscriptCall) {
  const index = written.findIndex(
    ({ id, name, arguments: given }) =>
      name === call.name &&
      (call.id === null ? call.arguments === null || sameJson(given, call.arguments) : id === call.id),
  );
  const [found] = index === -1 ? [] : written.splice(index, 1);
  return { id: call.id ?? found?.id ?? null, arguments: call.arguments ?? found?.arguments ?? null };
}

function sameJson(a: string, b: string): boolean {
  return JSON.stringify(argumentsOf(a)) === JSON.stringify(argumentsOf(b));
}

function showCall(
  call: TranscriptCall,
  found: { readonly id: string | null; readonly arguments: string | null } | undefined,
  index: number,
): AtifToolCall {
  const extra = {
    ...(call.isError === null ? {} : { is_error: call.isError }),
    ...(found?.arguments == null ? { arguments: "not known" } : {}),
  };
  return {
    tool_call_id: found?.id ?? `call-${index + 1}`,
    function_name: call.name,
    arguments: argumentsOf(found?.arguments ?? ""),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

/** Arguments as the object that the format wants; text that is none stands under `input`. */
function argumentsOf(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === "") return {};
  try {
    const value = plainJson(parseExactJson(text, { source: "arguments", maxDepth: 256 }));
    return isObject(value) ? value : { input: value };
  } catch {
    return { input: text };
  }
}

/** What the agent of each of the task's steps was asked, in order; null where it asked its model nothing. */
function instructionsOf({ events }: Trace, exchanges: readonly ModelExchange[]): (string | null)[] {
  const starts = events.filter((event) => event.type === "phase" && event.phase === "agent-started");
  return starts.map(({ seq }, index) => {
    const end = starts[index + 1]?.seq ?? Number.POSITIVE_INFINITY;
    const first = exchanges.find(({ request }) => request.seq > seq && request.seq < end);
    return first === undefined ? null : instructionOf(first);
  });
}

/** All that the user said before the model's first turn. */
function instructionOf({ items }: ModelExchange): string {
  if (isUnknown(items)) return "";
  const first = items.findIndex(isByModel);
  return (first === -1 ? items : items.slice(0, first))
    .flatMap((item) => (item.kind === "text" && item.role === "user" ? [item.text] : []))
    .join("\n");
}
