import { isUnknown } from "../base/unknown.ts";
import type { CallBudget } from "./protocol.ts";
import { type Tally, totalCost } from "./tally.ts";

/** Progress of a run for people. */
export interface Progress extends Disposable {
  /** A call has ended; `fresh` when it was made now and not found from before. */
  readonly called: (fresh: boolean) => void;
  /** Calls that will not be made after all. */
  readonly spared: (calls: number) => void;
  readonly line: () => string;
}

export interface ProgressOptions {
  readonly budget: CallBudget;
  readonly records: () => { readonly done: number; readonly all: number };
  readonly tally: Tally;
  readonly say: (line: string) => void;
  /** Redraw one line on a terminal; a plain line now and then elsewhere. */
  readonly interactive: boolean;
  readonly nowMs: () => number;
}

/** Calls over which the rate is measured. */
const WINDOW_MS = 60_000;

/** Starts to report: every second on a terminal, every half minute elsewhere. */
export function startProgress(options: ProgressOptions): Progress {
  const { budget, tally, nowMs } = options;
  const started = nowMs();
  let total = budget.policy_calls + budget.verifier_calls_max + budget.meta_calls_max;
  let done = 0;
  let fresh = 0;
  const marks: { at: number; fresh: number }[] = [{ at: started, fresh: 0 }];
  let drawn = false;

  const line = (): string => {
    const now = nowMs();
    while (marks.length > 1 && now - (marks[0]?.at ?? 0) > WINDOW_MS) marks.shift();
    const first = marks[0] ?? { at: started, fresh: 0 };
    const rate = now > first.at ? ((fresh - first.fresh) * 1000) / (now - first.at) : 0;
    const records = options.records();
    const roles = tally.result();
    const reported = Object.values(roles).map(({ tokens }) => tokens.reported.prompt + tokens.reported.completion);
    const tokens = reported.reduce((sum, count) => sum + count, 0);
    const complete = Object.values(roles).every(
      ({
        calls,
        tokens: {
          reported: { calls: known },
        },
      }) => calls === known,
    );
    const cost = totalCost(roles);
    return [
      `records ${records.done}/${records.all}`,
      `calls ${done}/${total}`,
      `${rate.toFixed(1)} calls/s`,
      `left ${rate > 0 ? duration((total - done) / rate) : "unknown"}`,
      `tokens ${complete ? "" : "at least "}${tokens}`,
      `cost ${isUnknown(cost) ? "unknown" : `$${(cost / 1_000_000).toFixed(4)}`}`,
    ].join(" · ");
  };
  const draw = (): void => {
    marks.push({ at: nowMs(), fresh });
    // The line before is one line up; it is replaced.
    options.say(options.interactive && drawn ? `\u001b[1A\u001b[2K${line()}` : line());
    drawn = true;
  };
  const timer = setInterval(draw, options.interactive ? 1000 : 30_000);
  timer.unref();
  return {
    called: (now) => {
      done += 1;
      if (now) fresh += 1;
    },
    spared: (calls) => {
      total -= calls;
    },
    line,
    [Symbol.dispose]: () => {
      clearInterval(timer);
      draw();
    },
  };
}

/** Seconds as `2h 05m`, `5m 07s` or `9s`. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  if (hours > 0) return `${hours}h ${String(minutes).padStart(2, "0")}m`;
  return minutes > 0 ? `${minutes}m ${String(whole % 60).padStart(2, "0")}s` : `${whole}s`;
}
