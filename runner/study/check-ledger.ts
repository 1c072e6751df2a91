import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { digestFile, digestJson } from "../base/digest.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import type { RunReport } from "./run-report.ts";
import type { BundleReader } from "./verify-bundle.ts";

/** Outcomes that get a new attempt; every other sealed trial stands, so that no score is drawn twice. */
const REPEATED: readonly string[] = ["provider_error", "infra_error", "interrupted"];

/**
 * Holds the ledger against the report: the same bytes, one opening and one closing line of this run, each listed attempt sealed exactly
 * once after it was started, under the identity and outcome of its record, and no earlier attempt superseded that may not be.
 */
export async function checkLedger(reader: BundleReader, report: RunReport): Promise<void> {
  const { dir, ledger, refuse } = reader;
  const path = join(dir, BUNDLE.ledger);
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() !== true) return refuse(`${BUNDLE.ledger} is missing, or no regular file`);
  const digest = await digestFile(path);
  if (digest !== report.ledger.digest)
    refuse(`${BUNDLE.ledger} has digest ${digest}, the report says ${report.ledger.digest}`);
  if (ledger.head !== report.ledger.head) refuse(`${BUNDLE.ledger} ends with another line than the report says`);
  if (ledger.wholeBytes !== report.ledger.size)
    refuse(`${BUNDLE.ledger} has ${ledger.wholeBytes} bytes, the report says ${report.ledger.size}`);
  const events = ledger.lines.map(({ event }) => event);
  const [first] = events;
  if (first?.type !== "run-opened" || first.runId !== report.runId || first.condition !== report.condition)
    refuse(`${BUNDLE.ledger}, line 1: does not open run ${report.runId} of ${report.condition}`);
  const last = events.at(-1);
  if (last?.type !== "run-closed" || last.runId !== report.runId)
    refuse(`${BUNDLE.ledger}, line ${events.length}: does not close run ${report.runId}`);
  const keyOf = (number: unknown, attempt: unknown): string => `${String(number)}/${String(attempt)}`;
  const started = new Set<string>();
  const sealed = new Map<string, (typeof events)[number]>();
  let seals = 0;
  for (const [index, event] of events.entries()) {
    const key = keyOf(event.number, event.attempt);
    const place = `${BUNDLE.ledger}, line ${index + 1}: trial ${String(event.number)}, attempt ${String(event.attempt)}`;
    if (event.type === "trial-started") {
      if (started.has(key)) refuse(`${place} is started twice`);
      started.add(key);
    } else if (event.type === "trial-sealed") {
      seals += 1;
      if (!started.has(key)) refuse(`${place} is sealed and was not started`);
      if (sealed.has(key)) refuse(`${place} is sealed twice`);
      sealed.set(key, event);
    }
  }
  const listed = [...report.superseded, ...report.trials];
  if (seals !== listed.length) refuse(`the ledger seals ${seals} attempts, the report lists ${listed.length}`);
  const latest = new Map(report.trials.map(({ number, attempt }) => [number, attempt]));
  for (const entry of listed) {
    const { number, attempt, record: ref } = entry;
    const place = `trial ${number}, attempt ${attempt}`;
    const line = sealed.get(keyOf(number, attempt));
    if (line === undefined) {
      refuse(`${place}: the ledger does not seal it`);
      continue;
    }
    if (digestJson(line.record) !== digestJson(ref))
      refuse(`${place}: the ledger seals another record than the report lists`);
    const record = await reader.readRecord(ref);
    if (record === null) continue;
    for (const name of ["task", "condition", "repetition", "outcome"] as const) {
      if (line[name] !== record[name])
        refuse(
          `${place}: the ledger says ${name} ${JSON.stringify(line[name])}, its record ${JSON.stringify(record[name])}`,
        );
    }
    if (!report.superseded.includes(entry)) continue;
    if (record.number !== number || record.attempt !== attempt) refuse(`${place}: its record is of another attempt`);
    if (!REPEATED.includes(record.outcome))
      refuse(`${place}: it is superseded although its outcome is ${record.outcome}`);
    if (attempt >= (latest.get(number) ?? 0)) refuse(`${place}: it is superseded by no later attempt`);
  }
}
