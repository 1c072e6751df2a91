import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { digestFile, digestJson } from "../base/digest.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import type { LedgerEvent } from "../evidence/ledger.ts";
import type { Outcome } from "../trial/record.ts";
import { REPEATED } from "./attempts.ts";
import type { RunReport } from "./run-report.ts";
import type { BundleReader } from "./verify-bundle.ts";

/**
 * Holds the ledger against the report: the same bytes, sessions of this run that open and close it, each attempt begun once, in its turn,
 * and sealed at most once, and exactly the listed attempts: those that stand, those that were superseded and those that were cut off.
 */
export async function checkLedger(reader: BundleReader, report: RunReport): Promise<SupersededAttempt[]> {
  const { dir, ledger, refuse } = reader;
  const path = join(dir, BUNDLE.ledger);
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() !== true) {
    refuse(`${BUNDLE.ledger} is missing, or no regular file`);
    return [];
  }
  const digest = await digestFile(path);
  if (digest !== report.ledger.digest)
    refuse(`${BUNDLE.ledger} has digest ${digest}, the report says ${report.ledger.digest}`);
  if (ledger.head !== report.ledger.head) refuse(`${BUNDLE.ledger} ends with another line than the report says`);
  if (ledger.wholeBytes !== report.ledger.size)
    refuse(`${BUNDLE.ledger} has ${ledger.wholeBytes} bytes, the report says ${report.ledger.size}`);
  const events = ledger.lines.map(({ event }) => event);
  checkSessions(events, report, refuse);
  const sealed = checkAttempts(events, refuse);
  return checkListed(reader, report, sealed);
}

/** A sealed attempt that is in no figure, and why it was made again. */
export interface SupersededAttempt {
  readonly number: number;
  readonly attempt: number;
  readonly outcome: Outcome;
  readonly causeDetail: string | null;
  /** A verifier had graded it: which score was set aside is known, and readers must see that one was. */
  readonly graded: boolean;
}

type Refuse = BundleReader["refuse"];

/** The first line opens the run, later openings resume it, the last line closes it, and nothing is begun while it is closed. */
function checkSessions(events: readonly LedgerEvent[], report: RunReport, refuse: Refuse): void {
  const supersedes = new Set<unknown>();
  let open = false;
  for (const [index, event] of events.entries()) {
    const place = `${BUNDLE.ledger}, line ${index + 1}`;
    const opens = index === 0 ? event.type === "run-opened" : event.type === "run-resumed";
    if (index === 0 || opens || event.type === "run-opened") {
      if (!opens || event.runId !== report.runId || event.condition !== report.condition)
        refuse(`${place}: does not open run ${report.runId} of ${report.condition}`);
      if (index === 0 && event.order !== report.order)
        refuse(`${place}: opens a run with order ${String(event.order)}, the report says ${report.order}`);
      if (typeof event.supersedes === "string") supersedes.add(event.supersedes);
      open = true;
    } else if (event.type === "run-closed") {
      if (!open || event.runId !== report.runId) refuse(`${place}: does not close run ${report.runId}`);
      open = false;
    } else if (!open && event.type.startsWith("trial-")) refuse(`${place}: ${event.type} while the run is closed`);
  }
  const last = events.at(-1);
  if (last?.type !== "run-closed" || last.runId !== report.runId)
    refuse(`${BUNDLE.ledger}, line ${events.length}: does not close run ${report.runId}`);
  const earlier = (report.earlier ?? []).map(({ digest }) => digest);
  if (digestJson([...supersedes]) !== digestJson(earlier))
    refuse(`${BUNDLE.ledger} supersedes other reports than the report lists as earlier`);
}

/** What a ledger says of each attempt. */
interface LedgerAttempt {
  readonly number: unknown;
  readonly attempt: unknown;
  /** The line that seals it; null: it was cut off. */
  sealed: LedgerEvent | null;
}

/** Each trial's attempts are 1, 2, …, each begun once, and only after the one before was cut off or sealed with an outcome that is repeated. */
function checkAttempts(events: readonly LedgerEvent[], refuse: Refuse): ReadonlyMap<string, LedgerAttempt> {
  const all = new Map<string, LedgerAttempt>();
  const latest = new Map<unknown, LedgerAttempt>();
  /** Attempts that the session which began them can no longer seal. */
  const over = new Set<LedgerAttempt>();
  for (const [index, event] of events.entries()) {
    const { type, number, attempt } = event;
    const place = `${BUNDLE.ledger}, line ${index + 1}: trial ${String(number)}, attempt ${String(attempt)}`;
    const key = keyOf(number, attempt);
    if (type === "run-resumed") for (const begun of all.values()) over.add(begun);
    else if (type === "trial-started") {
      const before = latest.get(number);
      if (all.has(key)) refuse(`${place} is started twice`);
      else if (attempt !== (typeof before?.attempt === "number" ? before.attempt : 0) + 1)
        refuse(`${place} is started out of turn`);
      else if (before !== undefined && before.sealed === null && !over.has(before))
        refuse(`${place} is started while the attempt before it is open`);
      else if (before?.sealed != null && !isRepeated(before.sealed.outcome))
        refuse(`${place} is started although the attempt before it was sealed as ${String(before.sealed.outcome)}`);
      const begun: LedgerAttempt = { number, attempt, sealed: null };
      all.set(key, begun);
      latest.set(number, begun);
    } else if (type === "trial-sealed") {
      const begun = all.get(key);
      if (begun === undefined) refuse(`${place} is sealed and was not started`);
      else if (begun.sealed !== null) refuse(`${place} is sealed twice`);
      else if (over.has(begun)) refuse(`${place} is sealed after it was cut off`);
      else begun.sealed = event;
      if (begun === undefined) all.set(key, { number, attempt, sealed: event });
    } else if (type === "trial-interrupted") {
      const begun = all.get(key);
      if (begun === undefined || begun.sealed !== null) refuse(`${place} is interrupted and was not open`);
      else over.add(begun);
    }
  }
  return all;
}

async function checkListed(
  reader: BundleReader,
  report: RunReport,
  attempts: ReadonlyMap<string, LedgerAttempt>,
): Promise<SupersededAttempt[]> {
  const { refuse } = reader;
  const found: SupersededAttempt[] = [];
  const listed = [...report.superseded, ...report.trials];
  const sealed = [...attempts.values()].filter((attempt) => attempt.sealed !== null);
  if (sealed.length !== listed.length)
    refuse(`the ledger seals ${sealed.length} attempts, the report lists ${listed.length}`);
  const cutOff = [...attempts.values()]
    .filter((attempt) => attempt.sealed === null)
    .map(({ number, attempt }) => keyOf(number, attempt));
  const said = (report.cutOff ?? []).map(({ number, attempt }) => keyOf(number, attempt));
  for (const key of cutOff)
    if (!said.includes(key)) refuse(`${BUNDLE.ledger}: attempt ${key} was cut off, and the report does not list it`);
  for (const key of said)
    if (!cutOff.includes(key)) refuse(`the report lists attempt ${key} as cut off, and the ledger does not`);
  if (new Set(said).size !== said.length) refuse("the report lists an attempt as cut off twice");
  const latest = new Map(report.trials.map(({ number, attempt }) => [number, attempt]));
  for (const { number, attempt } of report.cutOff ?? []) {
    if (attempt >= (latest.get(number) ?? 0))
      refuse(`trial ${number}, attempt ${attempt}: it was cut off and no later one was made`);
  }
  const superseded = new Set<object>(report.superseded);
  for (const entry of listed) {
    const { number, attempt, record: ref } = entry;
    const place = `trial ${number}, attempt ${attempt}`;
    const line = attempts.get(keyOf(number, attempt))?.sealed;
    if (line == null) {
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
    if (!superseded.has(entry)) continue;
    if (record.number !== number || record.attempt !== attempt) refuse(`${place}: its record is of another attempt`);
    if (!isRepeated(record.outcome)) refuse(`${place}: it is superseded although its outcome is ${record.outcome}`);
    if (attempt >= (latest.get(number) ?? 0)) refuse(`${place}: it is superseded by no later attempt`);
    found.push({ number, attempt, outcome: record.outcome, causeDetail: record.causeDetail, graded: record.graded });
  }
  return found;
}

function isRepeated(outcome: unknown): boolean {
  return REPEATED.some((name) => name === outcome);
}

function keyOf(number: unknown, attempt: unknown): string {
  return `${String(number)}/${String(attempt)}`;
}
