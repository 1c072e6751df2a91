import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import type { ObjectStore } from "../evidence/store.ts";
import type { Call, Outcome } from "./call.ts";
import type { CassetteEntry, CassetteHeader } from "./cassette-format.ts";
import { readRecord } from "./output-folder.ts";
import { metaCall, policyCall, type Unit, verifierCalls } from "./protocol.ts";
import type { PreparedRun } from "./request.ts";
import type { ProofRecord, Reply } from "./terms.ts";

/** Largest reply that is read whole, in bytes. */
const LARGEST = 256 * 1024 * 1024;

/**
 * Writes a complete run as a cassette, from its records and raw replies: so the recording is whole however often the run was interrupted.
 */
export async function writeCassette(
  path: string,
  run: PreparedRun,
  store: Pick<ObjectStore, "readAll">,
): Promise<void> {
  const temporary = `${path}.tmp`;
  try {
    await pipeline(cassetteLines(run, store), createWriteStream(temporary, { flush: true }));
    await rename(temporary, path);
  } catch (thrown) {
    await rm(temporary, { force: true });
    throw thrown;
  }
}

async function* cassetteLines(run: PreparedRun, store: Pick<ObjectStore, "readAll">): AsyncGenerator<string> {
  const header: CassetteHeader = { cassette: "jacobian-runner-proof/1", source: "recorded" };
  yield `${JSON.stringify(header)}\n`;
  for (const unit of run.units) {
    const record = await readRecord(run, unit.key);
    if (record === null) throw new TypeError(`unit ${unit.key} has no record`);
    for (const { call, reply } of callsOf(run, unit, record)) {
      const entry: CassetteEntry = { scope: call.scope, request: call.digest, outcome: await outcomeOf(reply, store) };
      yield `${JSON.stringify(entry)}\n`;
    }
  }
}

function callsOf({ protocol }: PreparedRun, unit: Unit, record: ProofRecord): { call: Call; reply: Reply }[] {
  const calls: { call: Call; reply: Reply }[] = [];
  const { policy_response: policy } = record;
  if (policy !== undefined) calls.push({ call: policyCall(protocol, unit), reply: policy });
  if (record.verifier_trials.length === 0) return calls;
  const judge = verifierCalls(protocol, unit, record.steps);
  for (const { index, response, parsed, meta } of record.verifier_trials) {
    calls.push({ call: judge(index), reply: response });
    if (parsed !== null && meta?.response)
      calls.push({ call: metaCall(protocol, unit, parsed, index), reply: meta.response });
  }
  return calls;
}

async function outcomeOf(reply: Reply, store: Pick<ObjectStore, "readAll">): Promise<Outcome> {
  const { error, attempts, micros, redacted, raw } = reply;
  const body = raw === null ? null : (await store.readAll(raw, LARGEST)).toString("utf8");
  return { error, body, attempts, micros, redacted };
}
