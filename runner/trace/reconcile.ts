import { digestJson } from "../base/digest.ts";
import { plainJson, printExact } from "../base/formats/plain-json.ts";
import { nameForModel, type ToolNaming } from "../base/formats/tool-naming.ts";
import type { TranscriptCall } from "../base/formats/transcript.ts";
import type { ExactJson } from "../base/json.ts";
import { parseExactJson } from "../base/strict-json.ts";
import { isUnknown, type Known } from "../base/unknown.ts";
import { modelExchanges } from "./conversation.ts";
import { pairMcpRequests, toolCallsOf } from "./mcp-calls.ts";
import type { Trace } from "./read-trace.ts";
import type { ReadObject } from "./trace-bodies.ts";

/**
 * Why a call stands in one record and not in another.
 * `not-sent`: the model wrote it and it never reached the server (the agent denied it, lost it or changed its arguments);
 * `not-written`: it reached the server and no model answer asked for it; `not-in-transcript`: the model wrote it and the agent's own
 * transcript leaves it out; `only-in-transcript`: the transcript has it and no model answer does.
 */
export type DifferenceCause = "not-sent" | "not-written" | "not-in-transcript" | "only-in-transcript";

export interface CallDifference {
  readonly cause: DifferenceCause;
  readonly name: string;
  readonly arguments: string | null;
}

export interface ReconcileInput {
  readonly trace: Trace;
  readonly readObject: ReadObject;
  /** null when the agent keeps no transcript: only the boundary's two records are compared. */
  readonly transcript: readonly TranscriptCall[] | null;
  readonly naming: ToolNaming;
  readonly serverTools: readonly string[];
}

interface Call {
  readonly name: string;
  readonly arguments: string | null;
}

/**
 * Compares three records of a trial's tool calls: the model's answers, the traffic to the MCP server, and the agent's transcript. Calls are
 * equal when name and arguments are, whatever the spelling of the JSON; as many must stand on each side.
 */
export function reconcileCalls(input: ReconcileInput): Known<readonly CallDifference[]> {
  const { trace, readObject, transcript, naming, serverTools } = input;
  const written: Call[] = [];
  for (const { response, answer } of modelExchanges(trace.events, readObject)) {
    if (response === null) continue;
    if (isUnknown(answer)) return answer;
    written.push(...answer.items.flatMap((item) => (item.kind === "tool-call" ? [item] : [])));
  }
  const { requests } = pairMcpRequests(trace.events, readObject);
  const sent = toolCallsOf(requests).map(({ tool, given }) => ({
    name: nameForModel(tool, naming),
    arguments: printExact(given),
  }));
  const shown = new Set(serverTools.map((tool) => nameForModel(tool, naming)));
  const writtenToServer = written.filter(({ name }) => shown.has(name));
  return [
    ...missing(writtenToServer, sent, "not-sent"),
    ...missing(sent, writtenToServer, "not-written"),
    ...(transcript === null
      ? []
      : [...missing(written, transcript, "not-in-transcript"), ...missing(transcript, written, "only-in-transcript")]),
  ];
}

/** The calls of one list that have no partner in the other. */
function missing(calls: readonly Call[], others: readonly Call[], cause: DifferenceCause): CallDifference[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1);
  return calls.flatMap((call) => {
    const key = keyOf(call);
    const count = left.get(key) ?? 0;
    if (count > 0) left.set(key, count - 1);
    return count > 0 ? [] : [{ cause, name: call.name, arguments: call.arguments }];
  });
}

function keyOf({ name, arguments: given }: Call): string {
  return digestJson([name, plainJson(readArguments(given ?? ""))]);
}

/** No arguments and an empty object are the same; text that is no JSON stands for itself. */
function readArguments(text: string): ExactJson {
  if (text.trim() === "") return {};
  try {
    return parseExactJson(text, { source: "arguments", maxDepth: 256 });
  } catch {
    return text;
  }
}
