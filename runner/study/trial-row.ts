import { lstatSync, readFileSync } from "node:fs";
import type { ModelAgent } from "../agent/model-agent.ts";
import { type Digest, digestBytes } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { readTrace, type Trace } from "../trace/read-trace.ts";
import { summariseTrace, type TraceMetrics } from "../trace/summarise.ts";
import type { ReadObject } from "../trace/trace-bodies.ts";
import { type TranscriptFacts, transcriptFacts } from "../trace/transcript-facts.ts";
import { readTranscripts } from "../trial/agent-evidence.ts";
import type { TrialRecord } from "../trial/record.ts";

/** What is derived from one sealed trial: the line of it in tables, comparisons and exports. */
export interface TrialRow {
  readonly number: number;
  readonly attempt: number;
  readonly task: string;
  readonly condition: TrialRecord["condition"];
  readonly repetition: number;
  readonly outcome: TrialRecord["outcome"];
  readonly cause: string | null;
  readonly agentEnd: string | null;
  readonly reward: number | null;
  readonly rewards: Readonly<Record<string, number>> | null;
  readonly submission: Known<string>;
  readonly modelSource: TrialRecord["modelSource"];
  /** Microseconds of the whole trial, and of the agent alone. */
  readonly totalMicros: Known<number>;
  readonly agentMicros: Known<number>;
  /** Derived from the gateway's trace; unknown for a trial that left none, null for an agent that needs no model. */
  readonly metrics: Known<TraceMetrics> | null;
  /** What the agent's own transcript says, held against the trace; null for an agent that needs no model. */
  readonly transcript: Known<TranscriptFacts> | null;
}

/** What the derivation needs to know beside the record. */
export interface RowContext {
  /** null for an agent that no model drives. */
  readonly agent: ModelAgent | null;
  /** The study's name of its MCP server. */
  readonly server: string;
  /** Names of the study's server's tools. */
  readonly serverTools: readonly string[];
  readonly expectedOperations: readonly string[] | null;
}

/** A trial's trace as it was read, and the reader of what it names. */
export interface ReadEvidence {
  readonly trace: Trace;
  readonly readObject: ReadObject;
}

const MAX_TRACE_BYTES = 256 * 1024 * 1024;
const MAX_OBJECT_BYTES = 256 * 1024 * 1024;

/** Derives a trial's row from its record and the bytes it refers to. `read` saves reading a trace that was read before. */
export async function deriveRow(
  store: Pick<ObjectStore, "readAll" | "path">,
  record: TrialRecord,
  context: RowContext,
  read: ReadEvidence | null = null,
): Promise<TrialRow> {
  const last = record.steps.at(-1);
  const submission = last?.submission ?? unknown("missing", "no step was run");
  return {
    number: record.number,
    attempt: record.attempt,
    task: record.task,
    condition: record.condition,
    repetition: record.repetition,
    outcome: record.outcome,
    cause: record.cause?.code ?? null,
    agentEnd: last?.agentEnd?.by ?? null,
    reward: record.reward,
    rewards: record.rewards,
    submission: isUnknown(submission) ? submission : submission.status,
    modelSource: record.modelSource,
    totalMicros: record.elapsed.total ?? unknown("missing"),
    agentMicros: record.elapsed.agent ?? unknown("missing", "the agent was not run"),
    ...(await derived(store, record, context, read)),
  };
}

async function derived(
  store: Pick<ObjectStore, "readAll" | "path">,
  record: TrialRecord,
  { agent, server, serverTools, expectedOperations }: RowContext,
  read: ReadEvidence | null,
): Promise<Pick<TrialRow, "metrics" | "transcript">> {
  if (agent === null) return { metrics: null, transcript: null };
  const { gateway, number, steps } = record;
  if (gateway === null) {
    const none = unknown("missing", "the trial left no trace");
    return { metrics: none, transcript: none };
  }
  const source = `the trace of trial ${number}`;
  const about = {
    trace: read?.trace ?? readTrace(await store.readAll(gateway.trace, MAX_TRACE_BYTES), source),
    readObject: read?.readObject ?? objectReader(store, record),
    naming: agent.naming(server),
    serverTools,
  };
  const metrics = summariseTrace({ ...about, expectedOperations });
  const transcripts = (await readTranscripts(store, agent, server, steps)).map(({ transcript }) => transcript);
  const { callIdMeta, untold } = agent;
  const { tokens } = metrics.model;
  return {
    metrics: heldUse(metrics, record),
    transcript: transcriptFacts({ ...about, transcripts, tokens, callIdMeta, untold }),
  };
}

/** A trial that was not given its condition had no server to leave unused: whether its agent would have is not known. */
export function heldUse(
  metrics: TraceMetrics,
  { outcome, cause }: Pick<TrialRecord, "outcome" | "cause">,
): TraceMetrics {
  if (outcome !== "invalid_condition" || metrics.use !== "unused") return metrics;
  const reason = unknown("unavailable", `the condition was not given: ${cause?.code ?? "no cause"}`);
  return { ...metrics, use: reason, fallback: reason };
}

/** Small objects are asked for by several derivations, one after the other. */
const KEPT_OBJECT_BYTES = 1024 * 1024;

/** Reads the objects that a record's trace may name: those that the record lists, and only with the right bytes. */
export function objectReader(store: Pick<ObjectStore, "path">, { gateway }: TrialRecord): ReadObject {
  const known = new Set<Digest>(gateway?.objects.map(({ digest }) => digest));
  const kept = new Map<string, Buffer>();
  return (hex) => {
    const bytes = kept.get(hex) ?? readObject(store, known, `sha256:${hex}`);
    if (bytes !== undefined && bytes.length <= KEPT_OBJECT_BYTES) kept.set(hex, bytes);
    return bytes;
  };
}

function readObject(store: Pick<ObjectStore, "path">, known: ReadonlySet<Digest>, digest: Digest): Buffer | undefined {
  if (!known.has(digest)) return undefined;
  const path = store.path(digest);
  const info = lstatSync(path);
  if (!info.isFile()) throw new RunnerError("integrity", "OBJECT_SPECIAL", `object ${digest} is not a regular file`);
  if (info.size > MAX_OBJECT_BYTES) return undefined;
  const bytes = readFileSync(path);
  if (digestBytes(bytes) !== digest)
    throw new RunnerError("integrity", "OBJECT_CHANGED", `object ${digest} holds other bytes`);
  return bytes;
}
