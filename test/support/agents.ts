import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { ModelAgent } from "../../runner/agent/model-agent.ts";
import { MODEL_AGENTS } from "../../runner/agent/registry.ts";
import type { CassetteInput } from "../../runner/base/formats/cassette.ts";
import { ROOT, writeFiles } from "./e2e.ts";
import { WHOLE } from "./size.ts";

export type Conversation = CassetteInput["conversations"][number];
export type Exchange = Conversation["exchanges"][number];

/** The agents that a suite runs over: all or, when it runs small, `few`; RUNNER_TEST_AGENTS names others, with commas between. */
export function testedAgents(few?: readonly string[]): readonly ModelAgent[] {
  const named = process.env.RUNNER_TEST_AGENTS?.split(",") ?? (WHOLE ? undefined : few);
  return named === undefined ? MODEL_AGENTS : MODEL_AGENTS.filter(({ name }) => named.includes(name));
}

/**
 * Conversations as an agent's model would hold them: its own shell in place of the reference agent's, its turns counted from those that it
 * puts into the model's mouth, and nothing expected of the words around a command's output, which are each agent's own.
 */
export function spokenBy(agent: ModelAgent, conversations: readonly Conversation[]): Conversation[] {
  return conversations.map(({ scope, exchanges }) => ({
    scope,
    exchanges: exchanges.map(({ match, reply, ...rest }) => ({
      ...rest,
      match:
        "turn" in match
          ? {
              ...match,
              turn: match.turn + agent.openingTurns,
              expect: (match.expect ?? [])
                .filter(({ contains }) => contains?.includes("exit code") !== true)
                .flatMap(inOwnWords),
            }
          : match,
      ...(reply === undefined
        ? {}
        : {
            reply: {
              ...reply,
              toolCalls: (reply.toolCalls ?? []).map((call) =>
                call.name === "shell" ? agent.shellCall(String(call.arguments.command)) : call,
              ),
            },
          }),
    })),
  }));
}

type Expectation = NonNullable<Extract<Exchange["match"], { readonly turn: number }>["expect"]>[number];

/** What a failed call answers is looked for as words: some agents put it into a text of their own. */
function inOwnWords(expectation: Expectation): Expectation[] {
  const { on, index, at, equals } = expectation;
  if (at == null || !/^\/(code|errors)(\/|$)/.test(at)) return [expectation];
  const words = (Array.isArray(equals) ? equals : [equals]).map(String);
  return words.map((contains) => ({ on, index, contains }));
}

/** Writes conversations as one cassette into a folder of its own, and gives the folder. */
export async function writeCassette(dir: string, conversations: readonly Conversation[]): Promise<string> {
  await writeFiles(dir, {
    "all.json": JSON.stringify({ schemaVersion: "1", modelSource: "scripted", conversations }),
  });
  return dir;
}

/** The demo's conversations about some tasks. */
export async function demoConversations(tasks: readonly string[]): Promise<Conversation[]> {
  const dir = join(ROOT, "benchmarks", "cassettes", "demo");
  const files = (await readdir(dir)).filter((name) => tasks.some((task) => name === `${task}.json`));
  const cassettes = await Promise.all(
    files.map(async (name) => JSON.parse(await readFile(join(dir, name), "utf8")) as CassetteInput),
  );
  return cassettes.flatMap(({ conversations }) => conversations);
}
