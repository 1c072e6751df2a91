import { judgeSettings, type SettingsExpectation, type Violation } from "../base/formats/request-settings.ts";
import type { TraceEvent } from "../base/formats/trace-events.ts";
import { isUnknown } from "../base/unknown.ts";
import { offering } from "./summarise.ts";
import { bodyBytes, bodyJson, type ReadObject } from "./trace-bodies.ts";

/**
 * Judges the requests of a trace that offered tools by what else they carried. A problem that comes again is listed once, with the exchange
 * in which it was first seen; a request whose bytes are not in the evidence proves nothing, which is a problem, too.
 */
export function judgeRequests(
  events: readonly TraceEvent[],
  readObject: ReadObject,
  expected: SettingsExpectation,
): Violation[] {
  if (expected.condition === "control" && expected.reasoningEffort === null) return [];
  const offered = offering(events);
  const found = new Map<string, Violation>();
  for (const event of events) {
    if (event.type !== "model-request" || !offered.has(event.exchange)) continue;
    const bytes = bodyBytes(event.body, readObject);
    const problems: Violation[] = isUnknown(bytes)
      ? [{ kind: "tools", detail: bytes.detail ?? bytes.unknown }]
      : judgeSettings(event.api, bodyJson(bytes, `the request ${event.exchange}`), expected);
    for (const { kind, detail } of problems)
      if (!found.has(detail)) found.set(detail, { kind, detail: `${event.exchange}: ${detail}` });
  }
  return [...found.values()];
}
