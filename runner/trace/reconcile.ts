import { digestJson } from "../base/digest.ts";
import { textAt } from "../base/formats/json-access.ts";
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
 * `not-sent`: the model wrote it and it never reached the server (the agent denied it or lost it); `not-written`: it reached the server
 * and no model answer asked for it; `changed-sent`: it reached the server under the model's id with other arguments;
 * `not-in-transcript`: the model wrote it and the agent's own transcript leaves it out; `only-in-transcript`: the transcript has it
 * and no model answer does; `changed-in-transcript`: the transcript has it under the model's id with other arguments.
 */
export const DIFFERENCE_CAUSES = [
  "not-sent",
  "not-written",
  "changed-sent",
  "not-in-transcript",
  "only-in-transcript",
  "changed-in-transcript",
] as const;
export type DifferenceCause = (typeof DIFFERENCE_CAUSES)[number];

export interface CallDifference {
  readonly cause: DifferenceCause;
  readonly name: string;
  /** As the record has them that the cause is about; null where a transcript does not keep them. */
  readonly arguments: string | null;
}

export interface ReconcileInput {
  readonly trace: Trace;
  readonly readObject: ReadObject;
  /** null when the agent keeps no transcript: only the boundary's two records are compared. */
  readonly transcript: readonly TranscriptCall[] | null;
  readonly naming: ToolNaming;
  readonly serverTools: readonly string[];
  /** Member of `_meta` in tools/call requests that holds the model's id of the call. */
  readonly callIdMeta: string | null;
  /** Own tools that the transcript never tells of. */
  readonly untold: readonly string[];
}

type Call = Pick<TranscriptCall, "id" | "name" | "arguments">;

/**
 * Compares three records of a trial's tool calls: the model's answers, the traffic to the MCP server, and the agent's transcript. Calls are
 * the same by the model's id where both records have it, else by name and arguments, whatever the spelling of the JSON, else (where a
 * transcript keeps no arguments) by name, in order; as many must stand on each side.
 */
export function reconcileCalls(input: ReconcileInput): Known<readonly CallDifference[]> {
  const { trace, readObject, transcript, naming, serverTools, callIdMeta, untold } = input;
  const written: Call[] = [];
  for (const { response, answer } of modelExchanges(trace.events, readObject)) {
    if (response === null) continue;
    if (isUnknown(answer)) return answer;
    written.push(...answer.items.flatMap((item) => (item.kind === "tool-call" ? [item] : [])));
  }
  const { requests } = pairMcpRequests(trace.events, readObject);
  const sent = toolCallsOf(requests).map(({ tool, given, params }) => ({
    id: callIdMeta === null ? null : (textAt(params, "_meta", callIdMeta) ?? null),
    name: nameForModel(tool, naming),
    arguments: printExact(given),
  }));
  const shown = new Set(serverTools.map((tool) => nameForModel(tool, naming)));
  const toServer = pairCalls(
    written.filter(({ name }) => shown.has(name)),
    sent,
  );
  const differences = [
    ...as("not-sent", toServer.left),
    ...as("changed-sent", toServer.changed),
    ...as("not-written", toServer.right),
  ];
  if (transcript === null) return differences;
  const told = pairCalls(
    written.filter(({ name }) => !untold.includes(name)),
    transcript,
  );
  return [
    ...differences,
    ...as("not-in-transcript", told.left),
    ...as("changed-in-transcript", told.changed),
    ...as("only-in-transcript", told.right),
  ];
}

function as(cause: DifferenceCause, calls: readonly Call[]): CallDifference[] {
  return calls.map(({ name, arguments: given }) => ({ cause, name, arguments: given }));
}

/** The calls of each list that have no partner in the other, and those of the right one whose partner by id has other arguments. */
function pairCalls(left: readonly Call[], right: readonly Call[]) {
  let open = [...left];
  let rest = [...right];
  const changed: Call[] = [];
  const match = (same: (a: Call, b: Call) => boolean, note?: (a: Call, b: Call) => void): void => {
    const unmatched: Call[] = [];
    for (const b of rest) {
      const index = open.findIndex((a) => same(a, b));
      const a = open[index];
      if (a === undefined) unmatched.push(b);
      else {
        note?.(a, b);
        open = open.toSpliced(index, 1);
      }
    }
    rest = unmatched;
  };
  match((a, b) => byId(a, b) && sameArguments(a, b));
  match(byId, (_, b) => changed.push(b));
  match((a, b) => a.name === b.name && !bothIds(a, b) && b.arguments !== null && sameArguments(a, b));
  match((a, b) => a.name === b.name && !bothIds(a, b) && b.arguments === null);
  return { left: open, right: rest, changed };
}

function bothIds(a: Call, b: Call): boolean {
  return a.id !== null && b.id !== null;
}

function byId(a: Call, b: Call): boolean {
  return bothIds(a, b) && a.id === b.id && a.name === b.name;
}

function sameArguments(a: Call, b: Call): boolean {
  return b.arguments === null || argumentsKey(a.arguments) === argumentsKey(b.arguments);
}

function argumentsKey(text: string | null): string {
  return digestJson(plainJson(readArguments(text ?? "")));
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
