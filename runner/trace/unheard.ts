import type { TraceEvent, TraceEventOf } from "../base/formats/trace-events.ts";
import { isUnknown } from "../base/unknown.ts";
import { offering } from "./summarise.ts";
import { bodyBytes, type ReadObject } from "./trace-bodies.ts";

const WORDS_BYTES = 500;

/**
 * Why no answer of the model's ever reached the agent of a trial that asked for some, by the requests that offered tools: the provider
 * refused them all, or was silent. Null when one was answered, or had begun to be, and when none went out.
 */
export function unheardModel(
  events: readonly TraceEvent[],
  readObject: ReadObject,
): { readonly code: "PROVIDER_REFUSED" | "PROVIDER_SILENT"; readonly detail: string } | null {
  const offered = offering(events);
  const asked = events.filter((event) => event.type === "model-request" && offered.has(event.exchange)).length;
  if (asked === 0) return null;
  const answers = events.filter(
    (event): event is TraceEventOf<"model-response"> => event.type === "model-response" && offered.has(event.exchange),
  );
  if (answers.some(({ status, firstByteMicros }) => status !== null && status < 400 && !isUnknown(firstByteMicros)))
    return null;
  const refusal = answers.findLast(({ status }) => status !== null && status >= 400);
  if (refusal === undefined) {
    const requests = asked === 1 ? "1 request" : `${asked} requests`;
    const detail = `the provider took ${requests} that offered tools and had answered none of them when the agent ended`;
    return { code: "PROVIDER_SILENT", detail };
  }
  const bytes = bodyBytes(refusal.body, readObject);
  const words = isUnknown(bytes) ? "an answer that was not kept" : bytes.subarray(0, WORDS_BYTES).toString("utf8");
  const detail = `the provider refused every request that offered tools, the last one with ${words} (status ${refusal.status})`;
  return { code: "PROVIDER_REFUSED", detail };
}
