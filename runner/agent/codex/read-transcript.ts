import { at, countAt, listAt, textAt } from "../../base/formats/json-access.ts";
import { printExact } from "../../base/formats/plain-json.ts";
import { sanitiseToolName } from "../../base/formats/tool-naming.ts";
import type { Usage } from "../../base/formats/trace-events.ts";
import type { AgentTranscript, EndReason, TranscriptCall, TranscriptStep } from "../../base/formats/transcript.ts";
import { sumUsage } from "../../base/formats/usage.ts";
import type { ExactJson } from "../../base/json.ts";
import { isUnknown, type Known, unknown } from "../../base/unknown.ts";
import { readJsonLines, type TranscriptEvent } from "../json-lines.ts";
import { codexServer } from "./config.ts";

const UNSAID = unknown("unavailable", "Codex's transcript does not say it");
/** Codex's own tools for a server's resources, which it tells as calls of a server. */
const RESOURCE_TOOLS = ["list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"];

/** Reads the JSONL of `codex exec --json`. It has no times and no call ids; a call comes twice, started and completed. */
export function readCodexTranscript(bytes: Uint8Array): Known<AgentTranscript> {
  const events = readJsonLines(bytes);
  if (isUnknown(events)) return events;
  const items = new Map<string, ExactJson>();
  const usages: Usage[] = [];
  let failure: string | null = null;
  let completed = false;
  for (const event of events) {
    const type = textAt(event, "type") ?? "";
    if (type.startsWith("item.")) items.set(textAt(event, "item", "id") ?? "", at(event, "item") ?? null);
    if (type === "turn.completed") {
      completed = true;
      usages.push(usageOf(event));
    }
    if (type === "turn.failed") failure = textAt(event, "error", "message") ?? "the turn failed";
  }
  const steps = stepsOf([...items.values()]);
  return {
    version: UNSAID,
    model: UNSAID,
    startup: UNSAID,
    steps,
    usage: usages.length === 0 ? unknown("missing", "no turn was completed") : sumUsage(usages),
    end:
      failure !== null
        ? { reason: failureReason(failure), detail: failure }
        : completed
          ? { reason: lastWords(steps) === "" ? "empty" : "finished", detail: null }
          : unknown("truncated", "the transcript does not say how the turn ended"),
  };
}

/** The items as steps: each message and each call is one, since the transcript does not tell the model's answers apart. */
function stepsOf(items: readonly ExactJson[]): TranscriptStep[] {
  const steps: TranscriptStep[] = [];
  let reasoning: string | null = null;
  for (const item of items) {
    const type = textAt(item, "type");
    if (type === "reasoning") {
      reasoning = [reasoning, textAt(item, "text") ?? ""].filter((text) => text !== null).join("\n");
      continue;
    }
    const call = readCall(item);
    if (type !== "agent_message" && call === null) continue;
    const text = type === "agent_message" ? (textAt(item, "text") ?? "") : "";
    steps.push({ source: "agent", text, reasoning, calls: call === null ? [] : [call], at: null });
    reasoning = null;
  }
  return steps;
}

function readCall(item: ExactJson): TranscriptCall | null {
  const status = textAt(item, "status");
  const ended = status === "completed" || status === "failed";
  const isError = ended ? status === "failed" : null;
  switch (textAt(item, "type")) {
    case "mcp_tool_call": {
      const tool = textAt(item, "tool") ?? "";
      const server = textAt(item, "server") ?? "";
      const own = RESOURCE_TOOLS.includes(tool);
      return {
        id: null,
        name: own ? tool : `mcp__${codexServer(server)}__${sanitiseToolName(tool)}`,
        arguments: printExact(at(item, "arguments") ?? {}),
        isError: isError ?? null,
        result: ended ? resultText(item) : null,
      };
    }
    case "command_execution": {
      const result = ended ? (textAt(item, "aggregated_output") ?? "") : null;
      return { id: null, name: "exec_command", arguments: null, isError, result };
    }
    case "file_change": {
      const changes = listAt(item, "changes").map((c) => `${textAt(c, "kind") ?? "?"} ${textAt(c, "path") ?? "?"}`);
      return { id: null, name: "apply_patch", arguments: null, isError, result: ended ? changes.join("\n") : null };
    }
    default:
      return null;
  }
}

function resultText(item: ExactJson): string {
  const error = textAt(item, "error", "message");
  if (error !== undefined) return error;
  const structured = at(item, "result", "structured_content") ?? null;
  // Codex shows the model the structured part where there is one.
  if (structured !== null) return printExact(structured);
  return listAt(item, "result", "content")
    .map((block) => textAt(block, "text") ?? `[${textAt(block, "type") ?? "?"}]`)
    .join("\n");
}

function lastWords(steps: readonly TranscriptStep[]): string {
  const last = steps.at(-1);
  return last === undefined || last.calls.length > 0 ? "" : last.text.trim();
}

/** Only what the words say for certain; of a failing provider the gateway knows more. */
function failureReason(message: string): EndReason {
  if (/reason: max_output_tokens|ran out of room in the model's context window/.test(message)) return "length";
  if (/reason: content_filter/.test(message)) return "refusal";
  if (/last status: (401|402|403|408|429|5\d\d)|unexpected status (401|402|408|429|5\d\d)/.test(message))
    return "provider";
  if (/stream disconnected|error sending request|high demand|connection failed/i.test(message)) return "provider";
  return "crash";
}

function usageOf(event: TranscriptEvent): Usage {
  const count = (name: string): Known<number> =>
    countAt(event, "usage", name) ?? unknown("missing", `the turn's usage has no ${name}`);
  return {
    input: count("input_tokens"),
    cachedInput: count("cached_input_tokens"),
    cacheWriteInput: count("cache_write_input_tokens"),
    output: count("output_tokens"),
    reasoning: count("reasoning_output_tokens"),
  };
}
