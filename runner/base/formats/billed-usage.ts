import { unknown } from "../unknown.ts";
import type { ModelAnswer } from "./model-response.ts";
import type { Usage } from "./trace-events.ts";
import { unknownUsage } from "./usage.ts";

/**
 * The usage that an exchange is billed by. `answer` is null when none came. A request that an API refuses (4xx) is not billed, and its
 * answer has no usage; what a broken service (5xx) billed is not known.
 */
export function billedUsage(status: number | null, answer: Pick<ModelAnswer, "usage"> | null): Usage {
  if (status === null || answer === null)
    return unknownUsage(unknown("truncated", "the request was cut before an answer came"));
  const { usage } = answer;
  const told = typeof usage.input === "number" || typeof usage.output === "number";
  if (status < 400 || told) return usage;
  return status < 500
    ? { input: 0, cachedInput: 0, cacheWriteInput: 0, output: 0, reasoning: 0 }
    : unknownUsage(unknown("missing", `the provider answered ${status}`));
}
