import type { ExactJson } from "../base/json.ts";
import { isObject } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";

/** One event of a transcript. */
export type TranscriptEvent = { readonly [key: string]: ExactJson };

/**
 * Reads a transcript of one JSON object a line. A line that cannot be read makes the whole unknown, since what it said is lost; so does a
 * torn end. Lines without any character are passed over.
 */
export function readJsonLines(bytes: Uint8Array): Known<readonly TranscriptEvent[]> {
  const lines = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8").split("\n");
  if (lines.pop() !== "") return unknown("truncated", "the last line of the transcript is torn");
  const events: TranscriptEvent[] = [];
  for (const [index, line] of lines.entries()) {
    if (line === "") continue;
    const event = readLine(line);
    if (isUnknown(event)) return unknown("unavailable", `line ${index + 1} of the transcript is not an event`);
    events.push(event);
  }
  return events;
}

function readLine(line: string): Known<TranscriptEvent> {
  try {
    const event = parseExactJson(line, { source: "the transcript", maxDepth: 256 });
    return isObject(event) ? (event as TranscriptEvent) : unknown("unavailable");
  } catch {
    return unknown("unavailable");
  }
}
