import { at, countAt, listAt, textAt } from "../../base/formats/json-access.ts";
import { printExact } from "../../base/formats/plain-json.ts";
import type { Usage } from "../../base/formats/trace-events.ts";
import type { AgentTranscript, EndReason, TranscriptCall, TranscriptStep } from "../../base/formats/transcript.ts";
import { unknownUsage } from "../../base/formats/usage.ts";
import type { ExactJson } from "../../base/json.ts";
import { isUnknown, type Known, unknown } from "../../base/unknown.ts";
import { readJsonLines, type TranscriptEvent } from "../json-lines.ts";

const UNSTARTED = unknown("missing", "the transcript has no start");

/** Reads Qwen Code's stream-json: one event for each answer of the model, and one for each answer of a tool. */
export function readQwenTranscript(bytes: Uint8Array): Known<AgentTranscript> {
  const events = readJsonLines(bytes);
  if (isUnknown(events)) return events;
  const init = events.find((event) => event.type === "system" && event.subtype === "init");
  const result = events.findLast((event) => event.type === "result");
  const steps = stepsOf(events);
  const startup = startupOf(init);
  return {
    version: textAt(init, "qwen_code_version") ?? UNSTARTED,
    model: textAt(init, "model") ?? UNSTARTED,
    startup,
    steps,
    usage: usageOf(events, result),
    end: endOf(startup, result),
  };
}

function startupOf(init: TranscriptEvent | undefined): AgentTranscript["startup"] {
  if (init === undefined) return UNSTARTED;
  return {
    tools: listAt(init, "tools").filter((tool) => typeof tool === "string"),
    servers: listAt(init, "mcp_servers").map((server) => ({
      name: textAt(server, "name") ?? "",
      status: textAt(server, "status") ?? "",
    })),
  };
}

function stepsOf(events: readonly TranscriptEvent[]): TranscriptStep[] {
  const results = new Map<string, ExactJson>();
  for (const event of events) {
    for (const block of event.type === "user" ? listAt(event, "message", "content") : []) {
      if (textAt(block, "type") === "tool_result") results.set(textAt(block, "tool_use_id") ?? "", block);
    }
  }
  return answersOf(events).map((answer) => {
    const blocks = answer.flatMap((event) => listAt(event, "message", "content"));
    const texts = (type: string, member: string): string =>
      blocks.flatMap((block) => (textAt(block, "type") === type ? [textAt(block, member) ?? ""] : [])).join("\n");
    return {
      source: "agent",
      text: texts("text", "text"),
      reasoning: texts("thinking", "thinking") || null,
      calls: blocks.flatMap((block) => (textAt(block, "type") === "tool_use" ? [readCall(block, results)] : [])),
      at: null,
    };
  });
}

/** The model's answers: what it thought, said and called comes as events of their own, one after the other. */
function answersOf(events: readonly TranscriptEvent[]): TranscriptEvent[][] {
  const answers: TranscriptEvent[][] = [];
  let open = false;
  for (const event of events) {
    const last = answers.at(-1);
    if (event.type !== "assistant") open = false;
    else if (open && last !== undefined) last.push(event);
    else {
      answers.push([event]);
      open = true;
    }
  }
  return answers;
}

function readCall(block: ExactJson, results: ReadonlyMap<string, ExactJson>): TranscriptCall {
  const id = textAt(block, "id") ?? "";
  const result = results.get(id);
  return {
    id,
    name: textAt(block, "name") ?? "",
    arguments: printExact(at(block, "input") ?? {}),
    isError: result === undefined ? null : at(result, "is_error") === true,
    result: result === undefined ? null : (textAt(result, "content") ?? ""),
  };
}

/**
 * The result's sums. `output_tokens` include reasoning, which is not told apart. Every answer costs input, so one that counts none had no
 * usage, and the sums lack it.
 */
function usageOf(events: readonly TranscriptEvent[], result: TranscriptEvent | undefined): Known<Usage> {
  if (result === undefined) return unknown("missing", "the transcript has no result");
  const uncounted = answersOf(events).some((answer) =>
    answer.every((event) => countAt(event, "message", "usage", "input_tokens") === 0),
  );
  if (uncounted) return unknown("missing", "an answer of the model has no usage");
  const count = (name: string): Known<number> =>
    countAt(result, "usage", name) ?? unknown("missing", `the result's usage has no ${name}`);
  return {
    ...unknownUsage(unknown("unavailable", "Qwen Code's transcript does not tell it")),
    input: count("input_tokens"),
    cachedInput: count("cache_read_input_tokens"),
    output: count("output_tokens"),
  };
}

/** Qwen Code ends with exit code 0 whatever happened, and puts what failed into the last words: `[API Error: …]`. */
function endOf(startup: AgentTranscript["startup"], result: TranscriptEvent | undefined): AgentTranscript["end"] {
  const lost = isUnknown(startup) ? undefined : startup.servers.find(({ status }) => status !== "connected");
  if (lost !== undefined)
    return { reason: "mcp", detail: `Qwen Code says that its MCP server ${lost.name} is ${lost.status}` };
  if (result === undefined) return unknown("truncated", "the transcript does not say how it ended");
  if (result.is_error === true) return { reason: "crash", detail: textAt(result, "error", "message") ?? "an error" };
  const text = textAt(result, "result") ?? "";
  const error = /\[API Error: (.*)\]\s*$/s.exec(text)?.[1];
  if (error !== undefined) return { reason: failureReason(error), detail: error };
  return { reason: text.trim() === "" ? "empty" : "finished", detail: null };
}

/**
 * The words stand where a model's own words would, so a model could write them, too: they never make a failure the provider's. Of that
 * the gateway knows.
 */
function failureReason(message: string): EndReason {
  return /stream ended (?:with empty response text|without a finish reason)/.test(message) ? "empty" : "crash";
}
