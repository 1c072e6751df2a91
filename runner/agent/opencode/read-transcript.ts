import { at, countAt, textAt } from "../../base/formats/json-access.ts";
import { printExact } from "../../base/formats/plain-json.ts";
import type { Usage } from "../../base/formats/trace-events.ts";
import type { AgentTranscript, EndReason, TranscriptCall, TranscriptStep } from "../../base/formats/transcript.ts";
import { sumUsage, unknownUsage } from "../../base/formats/usage.ts";
import type { ExactJson } from "../../base/json.ts";
import { isUnknown, type Known, sumKnown, unknown } from "../../base/unknown.ts";
import { readJsonLines, type TranscriptEvent } from "../json-lines.ts";

const UNSAID = unknown("unavailable", "opencode's transcript does not say it");

/** Reads the JSONL of `opencode run --format json`: parts of the model's answers, in the order of their completion. */
export function readOpencodeTranscript(bytes: Uint8Array): Known<AgentTranscript> {
  const events = readJsonLines(bytes);
  if (isUnknown(events)) return events;
  const steps = new Map<string, TranscriptStep>();
  const usages: Usage[] = [];
  let finish: string | undefined;
  let failure: ExactJson | undefined;
  for (const event of events) {
    const part = at(event, "part");
    const id = textAt(part, "messageID");
    switch (event.type) {
      case "error":
        failure = at(event, "error");
        break;
      case "step_start":
        finish = undefined;
        if (id !== undefined && !steps.has(id)) steps.set(id, newStep(event));
        break;
      case "step_finish":
        finish = textAt(part, "reason");
        usages.push(usageOf(part));
        break;
      default:
        if (id !== undefined) steps.set(id, withPart(steps.get(id) ?? newStep(event), event.type, part));
    }
  }
  const list = [...steps.values()];
  return {
    version: UNSAID,
    model: UNSAID,
    startup: UNSAID,
    steps: list,
    usage: usages.length === 0 ? unknown("missing", "no answer of the model was completed") : sumUsage(usages),
    end:
      failure === undefined
        ? endOf(finish, list)
        : {
            reason: failureReason(failure),
            detail: textAt(failure, "data", "message") ?? textAt(failure, "name") ?? null,
          },
  };
}

function newStep({ timestamp }: TranscriptEvent): TranscriptStep {
  const millis = typeof timestamp === "number" && timestamp >= 0 && timestamp <= 8.64e15 ? timestamp : null;
  const time = millis === null ? null : new Date(millis).toISOString();
  return { source: "agent", text: "", reasoning: null, calls: [], at: time };
}

function withPart(step: TranscriptStep, type: ExactJson | undefined, part: ExactJson | undefined): TranscriptStep {
  const text = textAt(part, "text") ?? "";
  switch (type) {
    case "text":
      return { ...step, text: step.text === "" ? text : `${step.text}\n${text}` };
    case "reasoning":
      return { ...step, reasoning: step.reasoning === null ? text : `${step.reasoning}\n${text}` };
    case "tool_use":
      return { ...step, calls: [...step.calls, readCall(part)] };
    default:
      return step;
  }
}

/** A call that opencode could not carry out stands as one of its tool `invalid`, with the name that the model gave. */
function readCall(part: ExactJson | undefined): TranscriptCall {
  const status = textAt(part, "state", "status");
  const tool = textAt(part, "tool") ?? "";
  const invalid = tool === "invalid";
  const ended = status === "completed" || status === "error";
  const failed = invalid || status === "error";
  return {
    id: textAt(part, "callID") ?? null,
    name: invalid ? (textAt(part, "state", "input", "tool") ?? tool) : tool,
    arguments: invalid ? null : printExact(at(part, "state", "input") ?? {}),
    isError: ended ? failed : null,
    result: ended ? (textAt(part, "state", status === "error" ? "error" : "output") ?? "") : null,
  };
}

/** opencode counts cached input and reasoning apart from `input` and `output`; without a usage it writes zeros and no total. */
function usageOf(part: ExactJson | undefined): Usage {
  const tokens = at(part, "tokens");
  if (countAt(tokens, "total") === undefined)
    return unknownUsage(unknown("missing", "the answer's tokens have no total"));
  const count = (...path: readonly string[]): Known<number> =>
    countAt(tokens, ...path) ?? unknown("missing", `the answer's tokens have no ${path.join(".")}`);
  const [read, written, reasoning] = [count("cache", "read"), count("cache", "write"), count("reasoning")];
  return {
    input: sumKnown([count("input"), read, written]),
    cachedInput: read,
    cacheWriteInput: written,
    output: sumKnown([count("output"), reasoning]),
    reasoning,
  };
}

function endOf(finish: string | undefined, steps: readonly TranscriptStep[]): AgentTranscript["end"] {
  const last = steps.at(-1);
  switch (finish) {
    case "stop":
      return { reason: last === undefined || last.text.trim() === "" ? "empty" : "finished", detail: null };
    case "length":
      return { reason: "length", detail: null };
    case "content-filter":
      return { reason: "refusal", detail: null };
    default:
      return unknown("truncated", "the transcript does not say how the last answer ended");
  }
}

function failureReason(failure: ExactJson): EndReason {
  const name = textAt(failure, "name");
  if (name === "ContentFilterError") return "refusal";
  if (name === "MessageOutputLengthError" || name === "ContextOverflowError") return "length";
  if (name !== "APIError") return "crash";
  if ((textAt(failure, "data", "responseBody") ?? "").includes('"budget_exhausted"')) return "budget";
  const status = countAt(failure, "data", "statusCode");
  // A status that says the request itself was wrong is the agent's doing; no status means that nothing answered.
  return status !== undefined && status < 500 && ![401, 402, 403, 404, 407, 408, 409, 425, 429].includes(status)
    ? "crash"
    : "provider";
}
