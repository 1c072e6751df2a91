import type { ConversationItem } from "../base/formats/conversation.ts";
import { nameForModel, type ToolNaming } from "../base/formats/tool-naming.ts";
import { isUnknown, type Known } from "../base/unknown.ts";
import type { ModelExchange } from "./conversation.ts";

/** The model's side of tool use: what it asked for and what it got to see. */
export interface ModelView {
  /** Calls of the MCP server's tools that the model wrote. */
  readonly serverToolCalls: Known<number>;
  /** Calls of the agent's own tools, such as its shell. */
  readonly ownToolCalls: Known<number>;
  /** UTF-8 bytes of the texts that the model was given as results of the server's tools. */
  readonly visibleBytes: Known<number>;
  /** Names of own tools that were called, each once. */
  readonly ownTools: Known<readonly string[]>;
}

/** Reads the model's tool use from its requests and answers. `serverTools` are the MCP server's names. */
export function modelView(
  exchanges: readonly ModelExchange[],
  serverTools: readonly string[],
  naming: ToolNaming,
): ModelView {
  const shown = new Set(serverTools.map((tool) => nameForModel(tool, naming)));
  const calls = writtenCalls(exchanges);
  const own = isUnknown(calls) ? calls : calls.filter((name) => !shown.has(name));
  return {
    serverToolCalls: isUnknown(calls) ? calls : calls.filter((name) => shown.has(name)).length,
    ownToolCalls: isUnknown(own) ? own : own.length,
    visibleBytes: visibleToolBytes(exchanges, shown),
    ownTools: isUnknown(own) ? own : [...new Set(own)].sort(),
  };
}

/** The tool names of every call in every answer. A request that got no answer holds no call. */
function writtenCalls(exchanges: readonly ModelExchange[]): Known<string[]> {
  const names: string[] = [];
  for (const { response, answer } of exchanges) {
    if (response === null) continue;
    if (isUnknown(answer)) return answer;
    names.push(...answer.items.flatMap((item) => (item.kind === "tool-call" ? [item.name] : [])));
  }
  return names;
}

/**
 * UTF-8 bytes of the texts that the model was given as results of the server's tools. A result comes again in every later request and
 * counts once; equal results of one request each count.
 */
function visibleToolBytes(exchanges: readonly ModelExchange[], shown: ReadonlySet<string>): Known<number> {
  const most = new Map<string, { bytes: number; times: number }>();
  for (const { items } of exchanges) {
    if (isUnknown(items)) return items;
    const here = new Map<string, { bytes: number; times: number }>();
    for (const { id, text } of serverResults(items, shown)) {
      const key = JSON.stringify([id, text]);
      const known = here.get(key) ?? { bytes: Buffer.byteLength(text, "utf8"), times: 0 };
      here.set(key, { ...known, times: known.times + 1 });
    }
    for (const [key, seen] of here) if (seen.times > (most.get(key)?.times ?? 0)) most.set(key, seen);
  }
  return [...most.values()].reduce((sum, { bytes, times }) => sum + bytes * times, 0);
}

function serverResults(items: readonly ConversationItem[], shown: ReadonlySet<string>) {
  const names = new Map<string, string>();
  return items.flatMap((item) => {
    if (item.kind === "tool-call") names.set(item.id, item.name);
    return item.kind === "tool-result" && shown.has(names.get(item.id) ?? "") ? [item] : [];
  });
}
