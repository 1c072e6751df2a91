import type { Known } from "../unknown.ts";
import type { Usage } from "./trace-events.ts";

/** One tool call as an agent's own transcript tells it. */
export interface TranscriptCall {
  /** The model API's id of the call; null where the transcript gives none. */
  readonly id: string | null;
  /** The name under which the model called the tool. */
  readonly name: string;
  /** JSON text of the arguments; null where the transcript does not keep them as the model wrote them. */
  readonly arguments: string | null;
  readonly isError: boolean | null;
  /** What the transcript keeps of the tool's answer, as text; null where it keeps none. */
  readonly result: string | null;
}

/** One message of a transcript, with the calls that belong to it. */
export interface TranscriptStep {
  readonly source: "system" | "user" | "agent";
  readonly text: string;
  readonly reasoning: string | null;
  readonly calls: readonly TranscriptCall[];
  /** ISO 8601 time, where the transcript has one. */
  readonly at: string | null;
}

/** Why an agent ended, in one vocabulary for all of them. */
export const END_REASONS = [
  /** The model answered without calling a tool. */
  "finished",
  /** No answer from the model provider: an error status, or it could not be reached. */
  "provider",
  /** The MCP server cannot be used. */
  "mcp",
  /** The model declined, or a filter stopped its answer. */
  "refusal",
  /** The answer reached its length limit. */
  "length",
  /** An answer with neither text nor tool calls. */
  "empty",
  /** The gateway said that a budget is exhausted. */
  "budget",
  /** The agent's own limit of turns. */
  "turns",
  /** A failure of the agent's own. */
  "crash",
] as const;
export type EndReason = (typeof END_REASONS)[number];

/** What an agent's start-up event says that it has. */
export interface TranscriptStartup {
  readonly tools: readonly string[];
  readonly servers: readonly { readonly name: string; readonly status: string }[];
}

/** An agent's transcript, read. What it does not say is unknown with the reason, never empty. */
export interface AgentTranscript {
  /** The agent's version as it names itself. */
  readonly version: Known<string>;
  readonly model: Known<string>;
  readonly startup: Known<TranscriptStartup>;
  readonly steps: readonly TranscriptStep[];
  /** The agent's own token totals, in the meaning that the gateway's have: `input` includes what was cached, `output` the reasoning. */
  readonly usage: Known<Usage>;
  readonly end: Known<{ readonly reason: EndReason; readonly detail: string | null }>;
}

/** Every call of a transcript, in order. */
export function transcriptCalls(transcript: Pick<AgentTranscript, "steps">): TranscriptCall[] {
  return transcript.steps.flatMap(({ calls }) => calls);
}
