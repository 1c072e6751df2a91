import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CLAUDE_CODE } from "../../../runner/agent/claude-code/agent.ts";
import type { ModelAgent } from "../../../runner/agent/model-agent.ts";
import { spokenBy, testedAgents } from "../../support/agents.ts";
import { oracle, recordsOf, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, talk, writeStudy } from "../../support/e2e-study.ts";

const TASK = "e2e-requests";
const AGENTS = testedAgents(["claude-code"]);

let dir: string;
let remove: () => Promise<void>;
let dataset: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK);
  const proven = await oracle(dataset, join(dir, "oracle"));
  expect(proven.code, proven.stderr).toBe(0);
});
afterAll(() => remove());

async function outcomeOf(agent: ModelAgent, id: string) {
  const home = join(dir, `${agent.name}-${id}`);
  const [api = "chat"] = agent.apis;
  const study = await writeStudy(home, {
    dataset,
    tasks: [TASK],
    agent: { name: agent.name, reasoningEffort: "high" },
    model: { id, api, replay: "cassettes" },
    conversations: spokenBy(agent, [talk(TASK, "echo 42 > /app/answer.txt")]),
  });
  const { stderr, result } = await execute(study, "control", join(home, "run"));
  const [run] = result.runs;
  if (run === undefined) throw new Error(stderr);
  const [record] = await recordsOf(run.dir);
  return [record?.outcome, record?.reward, record?.cause];
}

test.each(AGENTS.map((agent) => [agent.name, agent] as const))(
  "%s asks the model for the study's reasoning effort",
  async (_name, agent) => {
    expect(await outcomeOf(agent, "scripted")).toEqual(["scored", 1, null]);
  },
);

describe.each(AGENTS.filter((agent) => agent === CLAUDE_CODE).map(({ name }) => name))("%s", () => {
  test("is not scored with a model that it takes for one that does not think, and asks for no effort", async () => {
    const detail = expect.stringMatching(/^the request names no reasoning effort, and the study names high/);
    expect(await outcomeOf(CLAUDE_CODE, "claude-haiku-4-5")).toEqual([
      ...["invalid_condition", null],
      { code: "CONDITION_EFFORT", detail },
    ]);
  });

  test("is not scored with a model in whose place it asks for another, and what to do is said", async () => {
    const detail = expect.stringMatching(
      /this study's model is claude-opus-4-1, not claude-opus-[0-9-]+\. Name in the study \(model\.id\) the model that the agent asks for/,
    );
    expect(await outcomeOf(CLAUDE_CODE, "claude-opus-4-1")).toEqual([
      ...["invalid_condition", null],
      { code: "CONDITION_MODEL", detail },
    ]);
  });
});
