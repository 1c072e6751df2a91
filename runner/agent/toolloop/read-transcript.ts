import { at, listAt, textAt } from "../../base/formats/json-access.ts";
import type { Usage } from "../../base/formats/trace-events.ts";
import type { AgentTranscript, EndReason, TranscriptCall, TranscriptStep } from "../../base/formats/transcript.ts";
import { readUsage, sumUsage } from "../../base/formats/usage.ts";
import { isUnknown, type Known, unknown } from "../../base/unknown.ts";
import { readJsonLines, type TranscriptEvent } from "../json-lines.ts";
import { TOOLLOOP_EXIT, type ToolloopEnd } from "./config.ts";

/** Reads the loop's JSONL. */
export function readToolloopTranscript(bytes: Uint8Array, server: string): Known<AgentTranscript> {
  const events = readJsonLines(bytes);
  if (isUnknown(events)) return events;
  const results = new Map<string, TranscriptEvent>();
  for (const event of events) if (event.type === "tool-result") results.set(callKey(event, textAt(event, "id")), event);
  const steps: TranscriptStep[] = [];
  const usages: Usage[] = [];
  let startup: AgentTranscript["startup"] = unknown("missing", "the transcript has no start");
  let model: Known<string> = unknown("missing", "the transcript has no start");
  let end: AgentTranscript["end"] = unknown("truncated", "the transcript does not say how the loop ended");
  for (const event of events) {
    if (event.type === "start") {
      const tools = listAt(event, "tools").filter((tool) => typeof tool === "string");
      startup = { tools, servers: event.mcp === true ? [{ name: server, status: "connected" }] : [] };
      model = textAt(event, "model") ?? unknown("missing", "the start names no model");
    } else if (event.type === "assistant") {
      steps.push(readStep(event, results));
      usages.push(readUsage("chat", at(event, "usage")));
    } else if (event.type === "end") {
      const reason = textAt(event, "reason") ?? "";
      if (isEnd(reason)) end = { reason: reasonOf(reason), detail: textAt(event, "detail") ?? null };
    }
  }
  const version = unknown("unavailable", "the loop does not name its version");
  return { version, model, startup, steps, usage: sumUsage(usages), end };
}

function readStep(event: TranscriptEvent, results: ReadonlyMap<string, TranscriptEvent>): TranscriptStep {
  const calls = listAt(event, "toolCalls").map((call): TranscriptCall => {
    const id = textAt(call, "id") ?? "";
    const result = results.get(callKey(event, id));
    return {
      id,
      name: textAt(call, "name") ?? "",
      arguments: textAt(call, "arguments") ?? "",
      isError: result === undefined ? null : result.isError === true,
      result: result === undefined ? null : (textAt(result, "text") ?? null),
    };
  });
  return { source: "agent", text: textAt(event, "text") ?? "", reasoning: null, calls, at: null };
}

/** Ids are the model's, and a model may use one again in a later turn. */
function callKey(event: TranscriptEvent, id: string | undefined): string {
  return `${JSON.stringify(event.turn ?? null)} ${id ?? ""}`;
}

function isEnd(reason: string): reason is ToolloopEnd {
  return Object.hasOwn(TOOLLOOP_EXIT, reason);
}

function reasonOf(end: ToolloopEnd): EndReason {
  return end === "internal" || end === "config" || end === "rejected" ? "crash" : end;
}
