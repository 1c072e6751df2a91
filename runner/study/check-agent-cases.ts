import type { ModelAgent } from "../agent/model-agent.ts";
import type { CassetteInput } from "../base/formats/cassette.ts";
import type { AgentEnd, Outcome } from "../trial/record.ts";

type Exchange = CassetteInput["conversations"][number]["exchanges"][number];
type Reply = NonNullable<Exchange["reply"]>;

/** One conversation that an agent is led through, and what must come of it. */
export interface CheckCase {
  readonly name: string;
  readonly condition: "control" | "treatment";
  readonly exchanges: readonly Exchange[];
  readonly outcome: Outcome;
  readonly reward: number | null;
  readonly end: AgentEnd["by"];
  /** Words that the cause or the end must hold. */
  readonly words: RegExp | null;
}

const USAGE = { input: 100, cachedInput: 40, output: 20, reasoning: 5 };
/** Shorter than what any agent's shell waits for. */
const NAP_SECONDS = 25;
/** Some agents refuse to run one long `sleep`. */
const NAP = `n=0; until [ $n -ge ${NAP_SECONDS} ]; do sleep 1; n=$((n+1)); done; echo rested`;

/** The conversations of a self-test. `idleSeconds` lets the first one wait that long between its turns. */
export function checkCases(agent: ModelAgent, idleSeconds: number): CheckCase[] {
  const shell = (command: string): Reply => ({ toolCalls: [agent.shellCall(command)], usage: USAGE });
  const answer = shell("printf 42 > /app/answer.txt");
  const add: Reply = { toolCalls: [{ name: "calc.add", arguments: { a: 20, b: 22 } }], usage: USAGE };
  const done: Reply = { text: "Done.", usage: USAGE };
  const naps = Array.from({ length: Math.ceil(idleSeconds / NAP_SECONDS) }, () => shell(NAP));
  const talk = (...replies: readonly Reply[]): Exchange[] =>
    replies.map((reply, index) => ({ match: { turn: agent.openingTurns + index + 1 }, reply }));
  // What follows a nap is said only when the nap was slept.
  const rested = (exchanges: readonly Exchange[]): Exchange[] =>
    exchanges.map(({ match, ...rest }, index) => ({
      ...rest,
      match: index > 0 && index <= naps.length ? { ...match, expect: [{ contains: "rested" }] } : match,
    }));
  // An agent may ask again before it gives up.
  const fails = (status: number): Exchange[] =>
    Array(8).fill({
      match: { turn: agent.openingTurns + 1 },
      response: { status, json: { error: { message: "a failure", type: "check", code: "check" } } },
    });
  const control = { condition: "control" } as const;
  const scored = { outcome: "scored", end: "self" } as const;
  const refused = (status: number): CheckCase => ({
    ...control,
    name: `status ${status}`,
    exchanges: fails(status),
    outcome: "provider_error",
    reward: null,
    end: "crash",
    words: new RegExp(`status ${status}`),
  });
  return [
    { ...control, ...scored, name: "control", exchanges: rested(talk(...naps, answer, done)), reward: 1, words: null },
    {
      ...scored,
      name: "treatment",
      condition: "treatment",
      exchanges: talk(add, answer, done),
      reward: 1,
      words: null,
    },
    refused(400),
    refused(401),
    refused(429),
    refused(500),
    {
      ...control,
      ...scored,
      name: "refusal",
      exchanges: Array(8).fill(talk({ text: "", refusal: "I decline.", finish: "filter", usage: USAGE })[0]),
      reward: 0,
      words: /declined|filter|refus/i,
    },
    {
      ...control,
      ...scored,
      name: "empty answer",
      exchanges: Array(8).fill(talk({ text: "", usage: USAGE })[0]),
      reward: 0,
      words: /empty/,
    },
  ];
}
