import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { Trace } from "../trace/read-trace.ts";

/** The wall-clock moment, in milliseconds, at which a trial's gateway saw the agent's first model request. */
export function firstRequestWall({ events }: Trace): Known<number> {
  const start = events.find((event) => event.type === "start");
  const offered = events.find((event) => event.type === "tools-offered");
  if (start === undefined || offered === undefined) return unknown("missing", "the trace has no model request");
  const wall = Date.parse(start.wall);
  return Number.isNaN(wall)
    ? unknown("unavailable", "its start has no wall time")
    : wall + (offered.us - start.us) / 1000;
}

/** The moment, or an error: a benchmark of trials without a request would measure nothing. */
export function requireMoment(moment: Known<number>): number {
  if (isUnknown(moment)) throw new Error(moment.detail ?? moment.unknown);
  return moment;
}
