import { RunnerError } from "../base/errors.ts";
import type { Call, Outcome, Transport } from "./call.ts";
import type { CallLog } from "./call-log.ts";
import type { FirstAnswers } from "./first-answers.ts";

/** Answers a call durably; `release` is called when the endpoint has done its part and the reply goes to disk. */
export type Ask = (call: Call, release: () => void) => Promise<Outcome>;

export interface CheckpointOptions {
  readonly log: CallLog;
  readonly transport: Pick<Transport, "ask">;
  /** Holds failures back until the endpoint is known to work; null for a cassette, whose failures are recorded ones. */
  readonly first: FirstAnswers | null;
  /** Calls made now, and calls that were there from before; counted on. */
  readonly count: { made: number; found: number };
  /** Called after each call; `fresh` when it was made now. */
  readonly onCall: (fresh: boolean) => void;
}

/**
 * Asks, and lets nobody use a reply before it is on disk; a reply that is there already is not asked for again.
 * @throws RunnerError `CALL_FOREIGN` when the log holds another request under the call's name.
 */
export function checkpointed({ log, transport, first, count, onCall }: CheckpointOptions): Ask {
  const ask: Ask = async (call, release) => {
    const before = await log.find(call.id);
    if (before !== undefined) {
      if (before.request !== call.digest) throw foreign(call);
      count.found += 1;
      onCall(false);
      return before.outcome;
    }
    const outcome = await transport.ask(call);
    await first?.confirm(call.scope.role, outcome, release);
    release();
    await log.append({ call: call.id, request: call.digest, outcome });
    count.made += 1;
    onCall(true);
    return outcome;
  };
  return first === null ? ask : (call, release) => first.during(() => ask(call, release));
}

function foreign(call: Call): RunnerError {
  return new RunnerError("integrity", "CALL_FOREIGN", `the call log holds another request under the name ${call.id}`, {
    hint: "The file was replaced. Start anew in another folder.",
  });
}
