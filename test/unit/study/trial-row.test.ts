import { expect, test } from "vitest";
import { unknown } from "../../../runner/base/unknown.ts";
import { heldUse } from "../../../runner/study/trial-row.ts";
import type { TraceMetrics } from "../../../runner/trace/summarise.ts";

const metricsOf = (use: TraceMetrics["use"], fallback: TraceMetrics["fallback"]) => ({ use, fallback }) as TraceMetrics;
const cause = { code: "MCP_NOT_REACHED", detail: "the agent never asked the MCP server for anything" };

test("a server that was never reached, or had died, does not look like one that the agent chose not to use", () => {
  const reason = unknown("unavailable", "the condition was not given: MCP_NOT_REACHED");
  expect(heldUse(metricsOf("unused", "instead"), { outcome: "invalid_condition", cause })).toEqual({
    use: reason,
    fallback: reason,
  });
});

test("a server that was there and left alone is unused, and one that was called before it died was called", () => {
  const unused = metricsOf("unused", "instead");
  expect(heldUse(unused, { outcome: "scored", cause: null })).toBe(unused);
  const attempted = metricsOf("attempted", "beside");
  expect(heldUse(attempted, { outcome: "invalid_condition", cause })).toBe(attempted);
});
