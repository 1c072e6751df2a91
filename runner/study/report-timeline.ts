import { readFileSync, statSync } from "node:fs";
import { findAgent } from "../agent/registry.ts";
import type { Digest } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { nameForModel } from "../base/formats/tool-naming.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { Span, Timeline } from "../report/model.ts";
import { faultOf } from "../trace/call-fault.ts";
import { type ModelExchange, modelExchanges } from "../trace/conversation.ts";
import { pairMcpRequests, toolCallsOf } from "../trace/mcp-calls.ts";
import { readTrace } from "../trace/read-trace.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import type { TrialRecord } from "../trial/record.ts";
import type { ReportedBundle } from "./report-bundle.ts";
import { readSealedRecord } from "./unsealed.ts";

/** Traces and frames beyond this are not drawn. */
const MAX_TRACE_BYTES = 64 * 1024 * 1024;
const MAX_OBJECT_BYTES = 64 * 1024 * 1024;
/** Bars that one drawing holds. */
const MAX_SPANS = 2000;

/** The timelines of a bundle's trials with the wanted numbers; their records are read for it. */
export async function bundleTimelines(bundle: ReportedBundle, wanted: ReadonlySet<number>): Promise<Timeline[]> {
  const timelines: Timeline[] = [];
  for (const { number: listed, record: ref } of bundle.report.trials) {
    if (!wanted.has(listed)) continue;
    const record = await readSealedRecord(bundle.store, ref);
    const { number, task, repetition, modelSource } = record;
    const spans = await spansOf(bundle, record);
    timelines.push({ number, task, side: bundle.report.condition, repetition, modelSource, spans });
  }
  return timelines;
}

async function spansOf({ store, plan, serverTools }: ReportedBundle, record: TrialRecord): Promise<Timeline["spans"]> {
  const agent = findAgent(plan.agent.name);
  if (typeof agent === "string") return unknown("unavailable", "the agent asks no model, so no gateway recorded it");
  if (record.gateway === null) return unknown("missing", "the trial left no trace");
  const { trace: ref, objects } = record.gateway;
  if (ref.size > MAX_TRACE_BYTES) return unknown("unavailable", `its trace of ${ref.size} bytes is too large to draw`);
  const trace = readTrace(await store.readAll(ref, MAX_TRACE_BYTES), `the trace of trial ${record.number}`);
  if (!trace.complete) return unknown("truncated", trace.problem ?? "the trace is not complete");
  const known = new Set(objects.map(({ digest }) => digest));
  // Bodies are held against their digests where they are read.
  const readObject: ReadObject = (hex) => {
    const digest: Digest = `sha256:${hex}`;
    if (!known.has(digest)) return undefined;
    const path = store.path(digest);
    return statSync(path).size > MAX_OBJECT_BYTES ? undefined : readFileSync(path);
  };
  const naming = agent.naming(plan.mcp.name);
  try {
    return timelineSpans(trace.events, readObject, new Set(serverTools.map((tool) => nameForModel(tool, naming))));
  } catch (thrown) {
    return unknown("unavailable", messageOf(thrown));
  }
}

/**
 * What happened between agent, model and server, as spans since the agent's start. `shownTools` are the server's tools under the names that
 * the model sees.
 */
export function timelineSpans(
  events: readonly TraceEvent[],
  readObject: ReadObject,
  shownTools: ReadonlySet<string>,
): Known<readonly Span[]> {
  const started = events.find((event) => event.type === "phase" && event.phase === "agent-started");
  if (started === undefined) return unknown("missing", "the trace does not say when the agent started");
  const since = (us: number): number => Math.max(0, us - started.us);
  const exchanges = modelExchanges(events, readObject);
  const traffic = pairMcpRequests(events, readObject);
  const errors = new Map(
    events.filter((event) => event.type === "provider-error").map((event) => [event.exchange, event.cause]),
  );
  const last = events.at(-1)?.us ?? started.us;
  const spans: Span[] = [];
  for (const { request, response } of exchanges) {
    const problem = modelProblem(response, errors.get(request.exchange));
    const endMicros = since(response?.us ?? last);
    spans.push({
      lane: "model",
      label: "model",
      startMicros: since(request.us),
      endMicros,
      ok: problem === null,
      problem,
    });
  }
  const calls = toolCallsOf(traffic.requests);
  for (const call of calls) {
    const fault = faultOf(call.outcome);
    const problem = fault === null ? null : fault.code === null ? fault.kind : `${fault.kind}: ${fault.code}`;
    spans.push({
      lane: "tool",
      label: call.tool,
      startMicros: since(call.startedUs),
      endMicros: since(call.endedUs),
      ok: problem === null,
      problem,
    });
  }
  spans.push(...ownSpans(exchanges, shownTools, since, last));
  if (spans.length > MAX_SPANS)
    return unknown("unavailable", `${spans.length} requests and calls are too many to draw`);
  return spans.sort((a, b) => a.startMicros - b.startMicros || a.endMicros - b.endMicros);
}

function modelProblem(response: ModelExchange["response"], cause: string | undefined): string | null {
  if (cause !== undefined) return `provider: ${cause}`;
  if (response === null) return "no answer was recorded";
  if (response.ended !== "complete") return response.ended;
  if (response.status === null || response.status >= 400) return `HTTP ${response.status ?? "without a status"}`;
  return null;
}

/** The boundary does not see own tools run; it sees the answer that calls them and the request that brings their results. */
function ownSpans(
  exchanges: readonly ModelExchange[],
  serverTools: ReadonlySet<string>,
  since: (us: number) => number,
  last: number,
): Span[] {
  return exchanges.flatMap(({ response, answer }, index): Span[] => {
    if (response === null || isUnknown(answer)) return [];
    const names = new Set(
      answer.items.flatMap((item) => (item.kind === "tool-call" && !serverTools.has(item.name) ? [item.name] : [])),
    );
    const next = exchanges[index + 1]?.request.us ?? last;
    return [...names].map((label) => ({
      lane: "own",
      label,
      startMicros: since(response.us),
      endMicros: since(next),
      ok: true,
      problem: null,
    }));
  });
}
