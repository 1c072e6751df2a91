import type { EndEvidence, ModelAgent } from "../agent/model-agent.ts";
import type { AgentTranscript } from "../base/formats/transcript.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { ObjectStore } from "../evidence/store.ts";
import type { CaptureRecord, StepRecord } from "./record.ts";

type Store = Pick<ObjectStore, "readAll">;

/** Largest standard output that is read as a transcript. */
const MAX_TRANSCRIPT_BYTES = 128 * 1024 * 1024;
const LAST_WORDS_BYTES = 4096;

/** The agent's transcript of one step, read from what was kept of its standard output. */
export async function readStepTranscript(
  store: Store,
  agent: ModelAgent,
  server: string,
  stdout: CaptureRecord,
): Promise<Known<AgentTranscript>> {
  if (stdout.truncated) return unknown("truncated", `only parts of the transcript's ${stdout.bytes} bytes were kept`);
  if (stdout.bytes > MAX_TRANSCRIPT_BYTES)
    return unknown("unavailable", `the transcript of ${stdout.bytes} bytes is too large to read`);
  const head = await store.readAll(stdout.head);
  const bytes = stdout.tail === null ? head : Buffer.concat([head, await store.readAll(stdout.tail)]);
  return agent.readTranscript(bytes, server);
}

/** The transcripts of a trial's steps, in order; a step whose agent was not run has none. */
export async function readTranscripts(
  store: Store,
  agent: ModelAgent,
  server: string,
  steps: readonly StepRecord[],
): Promise<{ readonly step: string; readonly transcript: Known<AgentTranscript> }[]> {
  const transcripts: { readonly step: string; readonly transcript: Known<AgentTranscript> }[] = [];
  for (const { name, agentOutput } of steps) {
    if (agentOutput === null) continue;
    transcripts.push({ step: name, transcript: await readStepTranscript(store, agent, server, agentOutput.stdout) });
  }
  return transcripts;
}

/** How many lines from the beginning a start-up event is looked for in. */
const STARTUP_LINES = 20;

/**
 * What a step's agent said that it has when it started, from the first lines of its standard output: they stand whatever became of the
 * rest, such as the line that a time limit tore.
 */
export async function readStepStartup(
  store: Store,
  agent: ModelAgent,
  server: string,
  { head }: CaptureRecord,
): Promise<AgentTranscript["startup"]> {
  const bytes = await store.readAll(head);
  let startup: AgentTranscript["startup"] = unknown("missing", "the agent printed no whole line");
  let start = 0;
  for (let line = 0; line < STARTUP_LINES; line += 1) {
    const feed = bytes.indexOf("\n", start);
    if (feed === -1) break;
    // Each line by itself: one that is no event hides no other.
    const transcript = agent.readTranscript(bytes.subarray(start, feed + 1), server);
    startup = isUnknown(transcript) ? transcript : transcript.startup;
    if (!isUnknown(startup)) break;
    start = feed + 1;
  }
  return startup;
}

/** What an ended agent left that tells why it ended. */
export async function endEvidence(
  store: Store,
  agent: ModelAgent,
  server: string,
  exitCode: number,
  output: NonNullable<StepRecord["agentOutput"]>,
): Promise<EndEvidence> {
  const { tail, head } = output.stderr;
  const stderr = Buffer.concat([
    await store.readAll(head),
    tail === null ? Buffer.alloc(0) : await store.readAll(tail),
  ]);
  return {
    exitCode,
    transcript: await readStepTranscript(store, agent, server, output.stdout),
    lastWords: stderr.subarray(Math.max(0, stderr.length - LAST_WORDS_BYTES)).toString("utf8"),
  };
}
