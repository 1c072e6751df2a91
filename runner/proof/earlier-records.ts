import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { RunnerError } from "../base/errors.ts";
import type { CallLog } from "./call-log.ts";
import { readRecordFile } from "./output-folder.ts";
import type { Unit } from "./protocol.ts";
import type { RawStore } from "./raw-store.ts";
import { FILES, type PreparedRun, recordPath } from "./request.ts";
import type { ProofRecord, Reply } from "./terms.ts";

export interface EarlierRecords {
  readonly run: PreparedRun;
  readonly log: Pick<CallLog, "has">;
  readonly raw: Pick<RawStore, "holds">;
  /** Takes a record that is whole. */
  readonly found: (record: ProofRecord, text: string) => void;
}

/**
 * Reads the records that an earlier process left, and gives the units that have none. Records and raw replies are not flushed before the run
 * is sealed, so a power cut can take them: a unit that lost something is made again from its calls in the log.
 * @throws RunnerError `RECORD_FOREIGN`, or `RECORD_DAMAGED` for a loss that the log cannot mend.
 */
export async function readEarlier({ run, log, raw, found }: EarlierRecords): Promise<Unit[]> {
  const { output } = run.request;
  const present = new Set(await readdir(join(output, FILES.records)));
  const pending: Unit[] = [];
  for (const unit of run.units) {
    if (!present.has(`${unit.key}.json`)) {
      pending.push(unit);
      continue;
    }
    const whole = await readWhole(run, unit, raw);
    if (typeof whole === "object") found(whole.record, whole.text);
    else if (log.has(firstCall(unit.key, run))) pending.push(unit);
    else throw damaged(recordPath(output, unit.key), whole);
  }
  return pending;
}

/** A record that is whole with all its raw replies, or what is wrong with it. */
async function readWhole(
  run: PreparedRun,
  { key }: Unit,
  raw: Pick<RawStore, "holds">,
): Promise<{ readonly record: ProofRecord; readonly text: string } | string> {
  try {
    const file = await readRecordFile(run, key);
    if (file === null) return "is gone";
    const lost = repliesOf(file.record).find((reply) => reply.raw !== null && !raw.holds(reply.raw));
    return lost?.raw ? `refers to the object ${lost.raw.digest}, which is not there or has other bytes` : file;
  } catch (thrown) {
    if (thrown instanceof RunnerError && thrown.code === "JSON_INVALID") return "is cut off or changed";
    throw thrown;
  }
}

function repliesOf({ policy_response: policy, verifier_trials: trials }: ProofRecord): Reply[] {
  const graded = trials.flatMap(({ meta }) => (meta?.response ? [meta.response] : []));
  return [...(policy === undefined ? [] : [policy]), ...trials.map(({ response }) => response), ...graded];
}

function firstCall(key: string, { request }: PreparedRun): string {
  return request.task === "prover" ? `${key}/policy` : `${key}/verifier/0`;
}

function damaged(path: string, problem: string): RunnerError {
  return new RunnerError("integrity", "RECORD_DAMAGED", `${path} ${problem}`, {
    hint: "The call log does not hold its replies either. Start anew in another folder: what is left cannot be trusted.",
  });
}
