import { rm } from "node:fs/promises";
import { join } from "node:path";
import { AsyncStack } from "../base/stack.ts";
import { type Ledger, openLedger } from "../evidence/ledger.ts";
import { type ObjectStore, openStore } from "../evidence/store.ts";
import { type CallLog, openCallLog } from "./call-log.ts";
import { checkpointed } from "./checkpoint.ts";
import { readKeys } from "./config.ts";
import { readEarlier } from "./earlier-records.ts";
import { watchFirstAnswers } from "./first-answers.ts";
import { flushFolder } from "./flush.ts";
import { graceAfterAbort, interrupted } from "./interruption.ts";
import { type Judged, judgedOf } from "./judged.ts";
import { refuseKeysInInputs } from "./key-check.ts";
import { outputFault } from "./output-fault.ts";
import { takeOutputFolder } from "./output-folder.ts";
import { type Progress, startProgress } from "./progress.ts";
import type { EvaluatorSource } from "./project.ts";
import type { Unit } from "./protocol.ts";
import { openRawStore, type RawStore } from "./raw-store.ts";
import { openRecordKeeper, type RecordKeeper } from "./record-keeper.ts";
import { makeRedactor } from "./redact.ts";
import { type ExportForm, FILES, type PreparedRun } from "./request.ts";
import { type RunSummary, writeSummary } from "./results.ts";
import { schedule } from "./schedule.ts";
import { type Sealed, sealRun } from "./seal.ts";
import { callsOf, readSealedRun, recordIfAsked } from "./sealed-run.ts";
import { type SecretGuard, secretGuard } from "./secret-guard.ts";
import { makeTally, type RoleTally, type Tally } from "./tally.ts";
import type { ProofRecord, Role } from "./terms.ts";
import { type Abortable, liveTransport } from "./transport.ts";
import { unitWork } from "./unit-work.ts";
import { startWorkAhead, type WorkAhead } from "./work-ahead.ts";

/** The world of a run. */
export interface RunWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
  readonly interactive: boolean;
  readonly source: EvaluatorSource;
  /** Wall time as ISO 8601. */
  readonly wall: () => string;
  /** Numbers in [0, 1) for the jitter of waits. */
  readonly uniform: () => number;
  /** First bound of the wait after a transport failure, in milliseconds. */
  readonly firstWaitMs: number;
  /** How long calls under way may still arrive after an interruption, in milliseconds. */
  readonly graceMs: number;
}

export interface RunResult {
  readonly summary: RunSummary;
  readonly calls: Partial<Record<Role, RoleTally>>;
  readonly sealed: Sealed;
  /** Forms of the exports that are there, of those that were asked for. */
  readonly forms: readonly ExportForm[];
  /** Calls made by this process, and calls whose replies were there from before. */
  readonly made: number;
  readonly found: number;
  /** Seconds from the first call to the last sealed record. */
  readonly inferenceSeconds: number;
}

/** Calls that can fail, at least, before an endpoint that has answered nothing is given up; the first ones may be too long for it. */
const FEWEST_RELEASED = 8;

/** A run that holds its output folder. */
interface OpenRun {
  readonly run: PreparedRun;
  readonly world: RunWorld;
  readonly keys: ReadonlyMap<Role, string>;
  readonly store: ObjectStore;
  readonly raw: RawStore;
  readonly guard: SecretGuard;
  readonly keeper: RecordKeeper;
  readonly log: CallLog;
  readonly ledger: Ledger;
  readonly tally: Tally;
  readonly judged: Map<string, Judged>;
  readonly count: { made: number; found: number; inferenceSeconds: number };
}

/**
 * Runs a prepared benchmark to its end and seals it. Interrupted or stopped, it keeps every completed call and writes a summary that shows no
 * score for what is incomplete; `--resume` goes on from there.
 * @throws RunnerError `INTERRUPTED`, or whatever stopped the run.
 */
export async function executeRun(run: PreparedRun, world: RunWorld): Promise<RunResult> {
  const { output } = run.request;
  const keys = run.cassette === null ? readKeys(run.config, world.env) : new Map<Role, string>();
  const stack = new AsyncStack();
  try {
    if (run.cassette !== null) stack.use(run.cassette);
    await refuseKeysInInputs(run, keys);
    stack.use(await takeOutputFolder(run));
    const before = await readSealedRun(run, world.say);
    if (before !== null) return before;
    const store = await openStore(output);
    const raw = openRawStore(output);
    const guard = secretGuard([...keys.values()]);
    const keeper = stack.use(openRecordKeeper(run, guard));
    const log = stack.use(await openCallLog(join(output, FILES.calls)));
    if (log.tornBytes > 0)
      world.say(`The run before broke off inside a reply (${log.tornBytes} bytes); that call is made again.`);
    const ledger = stack.use(await openLedger(join(output, FILES.ledger)));
    const open: OpenRun = {
      run,
      world,
      keys,
      store,
      raw,
      guard,
      keeper,
      log,
      ledger,
      tally: makeTally(run.config, run.cassette !== null),
      judged: new Map(),
      count: { made: 0, found: 0, inferenceSeconds: 0 },
    };
    const pending = await readEarlier({ run, log, raw, found: (record, text) => recallRecord(open, record, text) });
    await ledger.append({
      type: "session",
      at: world.wall(),
      concurrency: run.request.concurrency,
      sealedRecords: open.judged.size,
      loggedCalls: log.known,
    });
    await writeSummary(run, open.judged);
    const ahead = stack.use(startWorkAhead(run));
    const started = performance.now();
    if (pending.length > 0) await makeRecords(open, pending);
    open.count.inferenceSeconds = (performance.now() - started) / 1000;
    return await complete(open, stack, ahead);
  } catch (thrown) {
    throw outputFault(thrown, output);
  } finally {
    await stack.disposeAsync();
  }
}

/** Counts a record that an earlier process made. */
function recallRecord(open: OpenRun, record: ProofRecord, text: string): void {
  open.keeper.found(record, text);
  open.judged.set(record.record_key, judgedOf(record));
  open.tally.addRecord(record);
  open.count.found += callsOf(record);
}

async function makeRecords(open: OpenRun, pending: readonly Unit[]): Promise<void> {
  const { run, world, judged, tally, raw, keeper } = open;
  await using transport = openTransport(open);
  using progress = progressOf(open);
  // Which endpoints have answered before, by the roles in the names of the logged calls.
  const answered = open.log.answered.map((call) => call.split("/")[1] as Role);
  const first = run.cassette === null ? watchFirstAnswers(run.config, answered) : null;
  using _grace = graceAfterAbort(world, transport);
  const context = {
    protocol: run.protocol,
    ask: checkpointed({ log: open.log, transport, first, count: open.count, onCall: progress.called }),
    raw,
    onReply: tally.addReply,
    onSpared: progress.spared,
    keep: (record: ProofRecord): void => {
      keeper.keep(record);
      judged.set(record.record_key, judgedOf(record));
    },
  };
  try {
    await schedule(works(pending, context), {
      concurrency: run.request.concurrency,
      released: Math.max(run.request.concurrency, FEWEST_RELEASED),
      signal: world.signal,
      onFailure: (thrown) => transport.abort(thrown instanceof Error ? thrown : new Error(String(thrown))),
    });
    if (judged.size < run.units.length) throw interrupted(judged.size, run.units.length);
  } catch (thrown) {
    // What stopped the run is what it says, also when the same fault stops these two.
    await writePartial(open).catch(() => undefined);
    // A call that the interruption cut off fails in its own words; the run says what happened to the run.
    throw world.signal.aborted ? interrupted(judged.size, run.units.length) : thrown;
  }
}

/** What there is of results and summary, for a look at an unfinished run. */
async function writePartial({ run, keeper, judged }: OpenRun): Promise<void> {
  keeper.finish();
  await writeSummary(run, judged);
}

function* works(pending: readonly Unit[], context: Parameters<typeof unitWork>[0]) {
  for (const unit of pending) yield unitWork(context, unit);
}

function openTransport({ run, world, keys }: OpenRun): Abortable {
  if (run.cassette !== null) {
    // The run's own stack closes the cassette.
    return { ask: run.cassette.ask, abort: () => undefined, [Symbol.asyncDispose]: async () => undefined };
  }
  const { concurrency } = run.request;
  const { uniform, firstWaitMs } = world;
  const redactor = makeRedactor(keys.values());
  return liveTransport({ config: run.config, keys, concurrency, redactor, uniform, firstWaitMs });
}

function progressOf({ run, world, judged, tally, count }: OpenRun): Progress {
  const progress = startProgress({
    budget: run.budget,
    records: () => ({ done: judged.size, all: run.units.length }),
    tally,
    say: world.say,
    interactive: world.interactive,
    nowMs: () => performance.now(),
  });
  const { policy_calls, verifier_calls_max, meta_calls_max } = run.budget;
  const perRecord = (policy_calls + verifier_calls_max + meta_calls_max) / run.units.length;
  progress.spared(judged.size * perRecord - count.found);
  for (let call = 0; call < count.found; call += 1) progress.called(false);
  return progress;
}

async function complete(open: OpenRun, stack: AsyncStack, { drawn }: WorkAhead): Promise<RunResult> {
  const { run, world, judged, tally, ledger, store, guard, keeper, count } = open;
  const written = keeper.finish();
  // The disk works while the scores are computed; whoever waits for it meets its failure.
  const flushed = flushFolder(run.request.output);
  flushed.catch(() => undefined);
  const summary = await writeSummary(run, judged, drawn);
  const calls = tally.result();
  const sealed = await sealRun({
    run,
    source: world.source,
    wall: world.wall,
    ledger,
    store,
    summary,
    calls,
    judged,
    guard,
    written,
    flushed,
  });
  // Every reply is in the store and every record sealed: the log has done its work.
  await stack.disposeAsync();
  await rm(join(run.request.output, FILES.calls), { force: true });
  await recordIfAsked(run);
  return { summary, calls, sealed, forms: run.request.exports, ...count };
}
