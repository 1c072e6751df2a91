import { createReadStream } from "node:fs";
import { lstat, readFile } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import pLimit from "p-limit";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { AsyncStack } from "../base/stack.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { type LedgerContent, readLedger } from "../evidence/ledger.ts";
import { readableStore } from "../evidence/store.ts";
import { type Attempt, type Due, dueAttempts, readAttempts } from "./attempts.ts";
import { CONDITIONS, type Condition } from "./order.ts";
import { type Plan, planSchema } from "./plan.ts";
import { type Openings, readOpenings } from "./run-opening.ts";
import { type RunReport, runReportSchema } from "./run-report.ts";
import { holdLedger } from "./session.ts";

/** One condition of a run as its folder tells it. */
export interface FoundSide {
  readonly condition: Condition;
  readonly dir: string;
  /** null: the run was killed before this side was opened. */
  readonly openings: Openings | null;
  readonly ledger: LedgerContent;
  readonly attempts: ReadonlyMap<number, readonly Attempt[]>;
  /** Attempts that are still to be made. */
  readonly due: readonly Due[];
  /** The report that lies there, whether or not the ledger has gone on since. */
  readonly report: { readonly anchor: Digest; readonly bytes: Buffer; readonly document: RunReport } | null;
  /** The report is the one that the whole ledger belongs to. */
  readonly sealed: boolean;
  /** Its ledger is held with the run; a side that has no ledger yet cannot be. */
  readonly held: boolean;
}

/** A run that was begun, held by this process alone until it is disposed. */
export interface FoundRun extends AsyncDisposable {
  /** The folder that was named, or the one above it for a run of both conditions. */
  readonly dir: string;
  readonly runId: string;
  /** What the run was opened with; both sides have it alike. */
  readonly openings: Openings;
  readonly plan: Plan;
  readonly sides: readonly FoundSide[];
}

/**
 * Finds the run in a condition's bundle, or in the folder that holds both, and holds its ledgers. A bundle of a run that executes both
 * conditions stands for the whole run, because the conditions alternate.
 * @throws RunnerError `NO_RUN`, `NOTHING_BEGUN`, `PARTNER_MISSING`, `NOT_ONE_RUN`, `RUN_BUSY`, `LEDGER_BROKEN`, `PLAN_CHANGED`,
 * `EVIDENCE_LOST` when a sealed attempt's record is gone, `REPORT_CHANGED` when the report is none that this run wrote.
 */
export async function findRun(path: string): Promise<FoundRun> {
  const dirs = await locate(resolve(path));
  await using stack = new AsyncStack();
  const read: (Pick<FoundSide, "dir" | "held" | "ledger" | "openings"> & { condition: Condition | null })[] = [];
  for (const [condition, dir] of dirs.sides) {
    const file = join(dir, BUNDLE.ledger);
    const held = await isFile(file);
    if (held) stack.use(await holdLedger(dir));
    const ledger = await readLedger(file);
    read.push({ condition, dir, held, ledger, openings: readOpenings(ledger.lines, file) });
  }
  const opened = read.flatMap(({ openings }) => openings ?? []);
  const [openings] = opened;
  if (openings === undefined) {
    throw new RunnerError("usage", "NOTHING_BEGUN", `no trial of ${dirs.dir} was begun`, {
      hint: "There is nothing to continue: start it again with `runner execute` and the same folder.",
    });
  }
  const { runId, order } = openings.opening;
  for (const { opening } of opened) {
    if (opening.runId !== runId || opening.plan !== openings.opening.plan) {
      throw new RunnerError("usage", "NOT_ONE_RUN", `${dirs.dir} holds two runs, ${runId} and ${opening.runId}`, {
        hint: `Resume each by its own folder: ${read.map(({ dir }) => dir).join(" and ")}.`,
      });
    }
  }
  const plan = await readPlan(read.find((side) => side.openings !== null)?.dir ?? dirs.dir, openings.opening.plan);
  const sides: FoundSide[] = [];
  for (const { condition, dir, held, ledger, openings: own } of read) {
    const side = own?.opening.condition ?? condition;
    if (side === null || (order === "separate" && own === null)) continue;
    const attempts = readAttempts(ledger.lines);
    await requireRecords(dir, attempts);
    const planned = plan.trials.filter((trial) => trial.condition === side).map(({ number }) => number);
    const report = await readReport(dir, runId, ledger);
    sides.push({
      condition: side,
      dir,
      openings: own,
      ledger,
      attempts,
      due: dueAttempts(planned, attempts),
      report,
      sealed: report !== null && report.document.ledger.head === ledger.head && ledger.tornBytes === 0,
      held,
    });
  }
  const held = stack.move();
  return { dir: dirs.dir, runId, openings, plan, sides, [Symbol.asyncDispose]: () => held.disposeAsync() };
}

/**
 * Holds a side's ledger once it is there; null when it is held with the run already, as one is that was made and not written to.
 * @throws RunnerError `RUN_BUSY`.
 */
export async function holdSide({ dir, held }: Pick<FoundSide, "dir" | "held">): Promise<AsyncDisposable | null> {
  return held ? null : holdLedger(dir);
}

interface Located {
  readonly dir: string;
  /** A lone bundle's condition is known from its ledger alone. */
  readonly sides: readonly (readonly [Condition | null, string])[];
}

async function locate(path: string): Promise<Located> {
  if (await isFile(join(path, BUNDLE.ledger))) {
    const opening = await readFirstEvent(join(path, BUNDLE.ledger));
    if (opening?.order !== "interleaved") return { dir: path, sides: [[null, path]] };
    const { condition } = opening;
    const parent = dirname(path);
    const other = join(parent, condition === "control" ? "treatment" : "control");
    // A side that has begun no trial may have been opened before its partner was.
    const begun = !opening.alone;
    if (basename(path) !== condition || (begun && !(await isFile(join(other, BUNDLE.ledger))))) {
      throw new RunnerError(
        "usage",
        "PARTNER_MISSING",
        `${path} ran interleaved with another condition, which is not beside it`,
        {
          hint: "Put both bundles back as `control` and `treatment` of one folder, and name that folder.",
        },
      );
    }
    return pairBelow(parent);
  }
  const below = await Promise.all(CONDITIONS.map((condition) => isFile(join(path, condition, BUNDLE.ledger))));
  if (below.some(Boolean)) return pairBelow(path);
  throw new RunnerError("usage", "NO_RUN", `${path} holds no run: there is no ${BUNDLE.ledger} in it`, {
    hint: "Name the folder that was given to `runner execute --out`.",
  });
}

/** The first line of a ledger that may be long, as far as it says where the rest of its run lies; everything is checked when it is read whole. */
async function readFirstEvent(
  path: string,
): Promise<{ readonly order: unknown; readonly condition: unknown; readonly alone: boolean } | null> {
  const chunks: Buffer[] = [];
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    if (chunk.subarray(0, -1).includes(10)) break;
  }
  const text = Buffer.concat(chunks);
  const end = text.indexOf(10);
  const parsed = end === -1 ? null : parseFirst(text.subarray(0, end));
  return parsed === null ? null : { ...parsed, alone: end === text.length - 1 };
}

function parseFirst(line: Buffer): { readonly order: unknown; readonly condition: unknown } | null {
  try {
    const value = parseStrictJson(line, { source: "the first line" });
    const event = isObject(value) ? value.event : null;
    return isObject(event) ? { order: event.order, condition: event.condition } : null;
  } catch {
    // A torn or damaged line; reading the whole ledger says which.
    return null;
  }
}

function pairBelow(dir: string): Located {
  return { dir, sides: CONDITIONS.map((condition) => [condition, join(dir, condition)] as const) };
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isFile() === true;
}

async function readPlan(dir: string, bound: Digest): Promise<Plan> {
  const path = join(dir, BUNDLE.plan);
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("integrity", "PLAN_CHANGED", `${path} does not exist`, { cause });
  });
  if (digestBytes(bytes) !== bound) {
    throw new RunnerError(
      "integrity",
      "PLAN_CHANGED",
      `${path} has digest ${digestBytes(bytes)}, the run was opened with the plan ${bound}`,
      { hint: "Put the plan back as it was written; a run is only continued under its own plan." },
    );
  }
  return parseInput(planSchema, parseStrictJson(bytes, { source: path }), path);
}

/** A record is durable before the line that seals it, so one that is missing was taken away, and its score may not be drawn again. */
async function requireRecords(dir: string, attempts: ReadonlyMap<number, readonly Attempt[]>): Promise<void> {
  const store = readableStore(dir);
  const limit = pLimit(16);
  const lost: string[] = [];
  const sealed = [...attempts.values()]
    .flat()
    .flatMap(({ number, attempt, sealed: seal }) => (seal === null ? [] : [{ number, attempt, ...seal }]));
  await Promise.all(
    sealed.map(({ number, attempt, outcome, record }) =>
      limit(async () => {
        const info = await lstat(store.path(record.digest)).catch(() => null);
        if (info?.isFile() !== true || info.size !== record.size)
          lost.push(`trial ${number}, attempt ${attempt} (${outcome}): ${record.digest}`);
      }),
    ),
  );
  if (lost.length === 0) return;
  throw new RunnerError(
    "integrity",
    "EVIDENCE_LOST",
    `${dir}: the ledger seals attempts whose records are missing or changed: ${lost.slice(0, 20).join("; ")}${lost.length > 20 ? `; and ${lost.length - 20} more` : ""}`,
    { hint: "Put the objects back from a copy. A sealed trial is never run again, so that no score is drawn twice." },
  );
}

async function readReport(dir: string, runId: string, ledger: LedgerContent): Promise<FoundSide["report"]> {
  const path = join(dir, BUNDLE.report);
  const bytes = await readFile(path).catch((cause: unknown) => {
    if (hasCode(cause, "ENOENT")) return null;
    throw cause;
  });
  if (bytes === null) return null;
  const document = parseInput(runReportSchema, parseStrictJson(bytes, { source: path }), path);
  const { head } = document.ledger;
  const known = head === ledger.head || ledger.lines.some(({ previous }) => previous === head);
  if (document.runId !== runId || !known || !canonicalBytes(document).equals(bytes)) {
    throw new RunnerError("integrity", "REPORT_CHANGED", `${path} is no report that run ${runId} wrote`, {
      hint: "Put the report back as it was written, or take it away: it is made again from the ledger and the records.",
    });
  }
  return { anchor: digestBytes(bytes), bytes, document };
}
