import { listAt, textAt } from "../../base/formats/json-access.ts";
import type { TranscriptCall } from "../../base/formats/transcript.ts";
import type { ExactJson } from "../../base/json.ts";
import { isObject } from "../../base/json.ts";
import { parseExactJson } from "../../base/strict-json.ts";
import { type Known, unknown } from "../../base/unknown.ts";
import { TOOLLOOP_EXIT, type ToolloopEnd } from "./config.ts";

export interface ToolloopTranscript {
  readonly calls: readonly TranscriptCall[];
  /** Why the loop ended, in its own words. */
  readonly end: Known<{ readonly reason: ToolloopEnd; readonly detail: string | null }>;
}

/** Reads the loop's JSONL. A line that cannot be read makes it incomplete, since what it said is lost. */
export function readToolloopTranscript(bytes: Uint8Array): Known<ToolloopTranscript> {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split("\n");
  if (lines.pop() !== "") return unknown("truncated", "the last line of the transcript is torn");
  const calls = new Map<string, TranscriptCall>();
  let end: ToolloopTranscript["end"] = unknown("truncated", "the transcript does not say how the loop ended");
  for (const [index, line] of lines.entries()) {
    const event = readLine(line);
    if (event === undefined) return unknown("unavailable", `line ${index + 1} of the transcript is not an event`);
    const turn = JSON.stringify(event.turn ?? null);
    if (event.type === "assistant") {
      for (const call of listAt(event, "toolCalls")) {
        const id = textAt(call, "id") ?? "";
        const given = textAt(call, "arguments") ?? "";
        calls.set(`${turn} ${id}`, { id, name: textAt(call, "name") ?? "", arguments: given, isError: null });
      }
    } else if (event.type === "tool-result") {
      const key = `${turn} ${textAt(event, "id") ?? ""}`;
      const call = calls.get(key);
      if (call !== undefined) calls.set(key, { ...call, isError: event.isError === true });
    } else if (event.type === "end") {
      const reason = textAt(event, "reason") ?? "";
      if (isEnd(reason)) end = { reason, detail: textAt(event, "detail") ?? null };
    }
  }
  return { calls: [...calls.values()], end };
}

function readLine(line: string): { readonly [key: string]: ExactJson } | undefined {
  try {
    const event = parseExactJson(line, { source: "the transcript", maxDepth: 256 });
    return isObject(event) ? (event as { readonly [key: string]: ExactJson }) : undefined;
  } catch {
    return undefined;
  }
}

function isEnd(reason: string): reason is ToolloopEnd {
  return Object.hasOwn(TOOLLOOP_EXIT, reason);
}
