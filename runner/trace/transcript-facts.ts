import type { ToolNaming } from "../base/formats/tool-naming.ts";
import type { Usage } from "../base/formats/trace-events.ts";
import { type AgentTranscript, type EndReason, transcriptCalls } from "../base/formats/transcript.ts";
import { sumUsage } from "../base/formats/usage.ts";
import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { TokenTotals } from "./model-metrics.ts";
import type { Trace } from "./read-trace.ts";
import { type CallDifference, DIFFERENCE_CAUSES, type DifferenceCause, reconcileCalls } from "./reconcile.ts";
import type { ReadObject } from "./trace-bodies.ts";

/** One figure of the agent's that is not the gateway's. */
export interface TokenDifference {
  readonly figure: keyof Usage;
  readonly agent: number;
  readonly gateway: number;
}

/** What an agent's own transcript says, held against the boundary's record. */
export interface TranscriptFacts {
  /** The agent's version and why it ended, in its own words; of the last step. */
  readonly version: Known<string>;
  readonly end: Known<EndReason>;
  /** How often each cause of a difference occurs; a cause that does not is 0. */
  readonly differences: Known<Readonly<Record<DifferenceCause, number>>>;
  /** The first of them. */
  readonly examples: Known<readonly CallDifference[]>;
  /** Tokens that both count and count differently. */
  readonly tokens: Known<readonly TokenDifference[]>;
}

export interface TranscriptInput {
  readonly trace: Trace;
  readonly readObject: ReadObject;
  /** Of every step whose agent was run, in order. */
  readonly transcripts: readonly Known<AgentTranscript>[];
  /** The gateway's totals. */
  readonly tokens: { readonly [K in keyof TokenTotals]: Known<number> };
  readonly naming: ToolNaming;
  readonly serverTools: readonly string[];
  readonly callIdMeta: string | null;
  readonly untold: readonly string[];
}

const EXAMPLES = 10;

/** Derives what a trial's transcripts say beside its trace. */
export function transcriptFacts(input: TranscriptInput): TranscriptFacts {
  const { trace, transcripts } = input;
  const known = transcripts.flatMap((transcript) => (isUnknown(transcript) ? [] : [transcript]));
  const lost = transcripts.find(isUnknown);
  const last = transcripts.at(-1) ?? unknown("missing", "the agent was not run");
  const truncated = trace.complete ? undefined : unknown("truncated", trace.problem ?? "the trace is not complete");
  const differences = truncated ?? lost ?? reconcile(input, known);
  return {
    version: isUnknown(last) ? last : last.version,
    end: isUnknown(last) ? last : isUnknown(last.end) ? last.end : last.end.reason,
    differences: isUnknown(differences) ? differences : countCauses(differences),
    examples: isUnknown(differences) ? differences : differences.slice(0, EXAMPLES),
    tokens: truncated ?? lost ?? compareTokens(known, input.tokens),
  };
}

function reconcile(
  { transcripts: _, ...input }: TranscriptInput,
  transcripts: readonly AgentTranscript[],
): Known<readonly CallDifference[]> {
  return reconcileCalls({ ...input, transcript: transcripts.flatMap(transcriptCalls) });
}

function countCauses(differences: readonly CallDifference[]): Record<DifferenceCause, number> {
  const count = (cause: DifferenceCause) => differences.filter((difference) => difference.cause === cause).length;
  return Object.fromEntries(DIFFERENCE_CAUSES.map((cause) => [cause, count(cause)])) as Record<DifferenceCause, number>;
}

function compareTokens(
  transcripts: readonly AgentTranscript[],
  gateway: TranscriptInput["tokens"],
): TranscriptFacts["tokens"] {
  const usages: Usage[] = [];
  for (const { usage } of transcripts) {
    if (isUnknown(usage)) return usage;
    usages.push(usage);
  }
  const agent = sumUsage(usages);
  return (["input", "cachedInput", "cacheWriteInput", "output", "reasoning"] as const).flatMap((figure) => {
    const [own, seen] = [agent[figure], gateway[figure]];
    return isUnknown(own) || isUnknown(seen) || own === seen ? [] : [{ figure, agent: own, gateway: seen }];
  });
}
