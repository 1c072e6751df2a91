import { messageOf, RunnerError } from "../base/errors.ts";
import { type TraceEvent, traceEventSchema } from "../base/formats/trace-events.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";

/** A trace as far as it goes. */
export interface Trace {
  readonly events: readonly TraceEvent[];
  /** False when the trace does not reach its `end` event: everything that is counted is then a lower bound. */
  readonly complete: boolean;
  /** Why it is not complete; null when it is. */
  readonly problem: string | null;
}

/**
 * Reads `trace.jsonl` from its exact bytes. Lines end with `\n` only. A last line that is torn, or missing, makes the trace incomplete.
 * @throws RunnerError `TRACE_INVALID` on damage before the last line: a line that cannot be read, a gap in the numbers, time that goes back.
 */
export function readTrace(bytes: Uint8Array, source: string): Trace {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const events: TraceEvent[] = [];
  let start = 0;
  for (let end = buffer.indexOf(10); end !== -1; end = buffer.indexOf(10, start)) {
    const line = events.length + 1;
    const event = readLine(buffer.subarray(start, end), `${source}, line ${line}`);
    checkOrder(events.at(-1), event, `${source}, line ${line}`);
    events.push(event);
    start = end + 1;
  }
  const rest = buffer.length - start;
  const last = events.at(-1);
  if (last?.type === "end") {
    if (rest > 0) throw invalid(source, `${rest} bytes after the last event`);
    checkCounts(events, last, source);
    return { events, complete: true, problem: null };
  }
  const problem = rest > 0 ? `the last line is torn after ${rest} bytes` : "the trace has no end";
  return { events, complete: false, problem };
}

function readLine(bytes: Buffer, source: string): TraceEvent {
  try {
    return parseInput<TraceEvent>(traceEventSchema, parseStrictJson(bytes, { source, maxDepth: 16 }), source);
  } catch (thrown) {
    throw invalid(source, messageOf(thrown), thrown);
  }
}

function checkOrder(before: TraceEvent | undefined, event: TraceEvent, source: string): void {
  const expected = before === undefined ? 0 : before.seq + 1;
  if (event.seq !== expected) throw invalid(source, `expected event ${expected}, got ${event.seq}`);
  if (before === undefined && event.type !== "start")
    throw invalid(source, `the first event is ${event.type}, not start`);
  if (before !== undefined && event.type === "start") throw invalid(source, "a second start");
  if (before?.type === "end") throw invalid(source, "an event after the end");
  if (before !== undefined && event.us < before.us)
    throw invalid(source, `time goes back from ${before.us} to ${event.us} us`);
}

function checkCounts(events: readonly TraceEvent[], end: Extract<TraceEvent, { type: "end" }>, source: string): void {
  const count = (type: TraceEvent["type"]) => events.filter((event) => event.type === type).length;
  const seen: Partial<typeof end.counts> = {
    events: events.length,
    modelRequests: count("model-request"),
    modelRefusals: count("model-refused"),
    providerErrors: count("provider-error"),
    mcpExchanges: count("mcp-request"),
    mcpRefusals: count("mcp-refused"),
    proxyDecisions: count("proxy"),
    requestsRefused: count("request-refused"),
  };
  for (const [name, value] of Object.entries(seen)) {
    const said = end.counts[name as keyof typeof end.counts];
    if (said !== value) throw invalid(source, `the end says ${said} ${name}, and there are ${value}`);
  }
}

function invalid(source: string, problem: string, cause?: unknown): RunnerError {
  return new RunnerError("integrity", "TRACE_INVALID", `${source}: ${problem}`, {
    hint: "The trace was changed or damaged after the gateway wrote it; the trial's evidence cannot be used.",
    cause,
  });
}
