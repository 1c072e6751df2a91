import { contentText } from "../../base/formats/conversation.ts";
import { at, listAt, textAt } from "../../base/formats/json-access.ts";
import { printExact } from "../../base/formats/plain-json.ts";
import { isProviderStatus } from "../../base/formats/provider-status.ts";
import type { AgentTranscript, EndReason, TranscriptCall, TranscriptStep } from "../../base/formats/transcript.ts";
import { readUsage } from "../../base/formats/usage.ts";
import type { ExactJson } from "../../base/json.ts";
import { isUnknown, type Known, unknown } from "../../base/unknown.ts";
import { readJsonLines, type TranscriptEvent } from "../json-lines.ts";

/** Reads the stream-json of Claude Code's print mode. `server` is the one that must be connected, where it is there at all. */
export function readClaudeTranscript(bytes: Uint8Array, server: string): Known<AgentTranscript> {
  const events = readJsonLines(bytes);
  if (isUnknown(events)) return events;
  const init = events.find((event) => event.type === "system" && event.subtype === "init");
  const result = events.findLast((event) => event.type === "result");
  const started = unknown("missing", "the transcript has no start");
  const startup: AgentTranscript["startup"] =
    init === undefined
      ? started
      : {
          tools: listAt(init, "tools").filter((tool) => typeof tool === "string"),
          servers: listAt(init, "mcp_servers").map((entry) => ({
            name: textAt(entry, "name") ?? "",
            status: textAt(entry, "status") ?? "",
          })),
        };
  return {
    version: textAt(init, "claude_code_version") ?? started,
    model: textAt(init, "model") ?? started,
    startup,
    steps: stepsOf(events),
    usage:
      result === undefined
        ? unknown("missing", "the transcript has no result")
        : readUsage("messages", at(result, "usage")),
    end: endOf(events, startup, result, server),
  };
}

function stepsOf(events: readonly TranscriptEvent[]): TranscriptStep[] {
  const results = new Map<string, ExactJson>();
  for (const event of events) {
    for (const block of event.type === "user" ? listAt(event, "message", "content") : []) {
      if (textAt(block, "type") === "tool_result") results.set(textAt(block, "tool_use_id") ?? "", block);
    }
  }
  const steps: TranscriptStep[] = [];
  let last: string | undefined;
  for (const event of events) {
    const source = event.type === "assistant" ? "agent" : event.type === "user" ? "user" : null;
    if (source === null || isSynthetic(event)) continue;
    const blocks = listAt(event, "message", "content");
    const step: TranscriptStep = {
      source,
      text: blocks
        .flatMap((block) => (textAt(block, "type") === "text" ? [textAt(block, "text") ?? ""] : []))
        .join("\n"),
      reasoning:
        blocks
          .flatMap((block) => (textAt(block, "type") === "thinking" ? [textAt(block, "thinking") ?? ""] : []))
          .join("\n") || null,
      calls: blocks.flatMap((block) => (textAt(block, "type") === "tool_use" ? [readCall(block, results)] : [])),
      at: textAt(event, "timestamp") ?? null,
    };
    if (source === "user" && step.text === "") continue;
    // One answer of the model comes as several events, one for each block.
    const id = source === "agent" ? textAt(event, "message", "id") : undefined;
    const before = steps.at(-1);
    if (id !== undefined && id === last && before !== undefined) steps[steps.length - 1] = joined(before, step);
    else steps.push(step);
    last = id;
  }
  return steps;
}

/** Words that Claude Code puts into the model's mouth when a request fails. */
function isSynthetic(event: TranscriptEvent): boolean {
  return textAt(event, "message", "model") === "<synthetic>";
}

function joined(a: TranscriptStep, b: TranscriptStep): TranscriptStep {
  const text = [a.text, b.text].filter((part) => part !== "").join("\n");
  const reasoning = [a.reasoning, b.reasoning].filter((part) => part !== null).join("\n") || null;
  return { ...a, text, reasoning, calls: [...a.calls, ...b.calls] };
}

function readCall(block: ExactJson, results: ReadonlyMap<string, ExactJson>): TranscriptCall {
  const id = textAt(block, "id") ?? "";
  const result = results.get(id);
  return {
    id,
    name: textAt(block, "name") ?? "",
    arguments: printExact(at(block, "input") ?? {}),
    isError: result === undefined ? null : at(result, "is_error") === true,
    result: result === undefined ? null : contentText(at(result, "content")),
  };
}

function endOf(
  events: readonly TranscriptEvent[],
  startup: AgentTranscript["startup"],
  result: TranscriptEvent | undefined,
  server: string,
): AgentTranscript["end"] {
  const lost = isUnknown(startup) ? undefined : startup.servers.find(({ status }) => status !== "connected");
  if (lost !== undefined) {
    return { reason: "mcp", detail: `Claude Code says that its MCP server ${lost.name || server} is ${lost.status}` };
  }
  if (result === undefined) return unknown("truncated", "the transcript does not say how it ended");
  if (result.is_error === true) {
    const detail = textAt(result, "result") ?? textAt(result, "subtype") ?? "an error";
    return { reason: failureReason(events, result), detail };
  }
  const reason = stopReason(textAt(result, "stop_reason"), textAt(result, "result") ?? "");
  return { reason, detail: null };
}

function failureReason(events: readonly TranscriptEvent[], result: TranscriptEvent): EndReason {
  const status = at(result, "api_error_status");
  // A refusal or a cut that it has asked again about is an error to it, and the model's doing.
  if (textAt(result, "stop_reason") === "refusal") return "refusal";
  if (events.findLast(isSynthetic)?.api_error === "max_output_tokens") return "length";
  if (textAt(result, "terminal_reason") === "prompt_too_long") return "length";
  if (textAt(result, "subtype") === "error_max_turns") return "turns";
  if (textAt(result, "terminal_reason") !== "api_error") return "crash";
  // A status that says the request itself was wrong is the agent's doing; no status means that nothing answered.
  return typeof status === "number" && !isProviderStatus(status) ? "crash" : "provider";
}

function stopReason(stop: string | undefined, text: string): EndReason {
  if (stop === "refusal") return "refusal";
  if (stop === "max_tokens" || stop === "model_context_window_exceeded") return "length";
  return text.trim() === "" ? "empty" : "finished";
}
