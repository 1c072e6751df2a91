import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { spokenBy, testedAgents } from "../../support/agents.ts";
import { trajectoryOf } from "../../support/atif.ts";
import { grade, NO_NETWORK, oracle, recordsOf, runner, SOLVE_42, scratch, sh, writeBundle } from "../../support/e2e.ts";
import { execute, talk, writeStudy } from "../../support/e2e-study.ts";

const TASK = "e2e-two-steps";

let dir: string;
let remove: () => Promise<void>;
let dataset: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK, {
    toml: `${NO_NETWORK}[[steps]]\nname = "one"\n[[steps]]\nname = "two"\n`,
    files: {
      "steps/one/instruction.md": "Answer.\n",
      "steps/two/instruction.md": "Answer again.\n",
      "steps/one/solution/solve.sh": SOLVE_42,
      "steps/two/solution/solve.sh": sh("echo 43 > /app/again.txt"),
      "steps/two/tests/test.sh": grade('[ "$(cat /app/again.txt)" = 43 ]'),
    },
  });
  const proven = await oracle(dataset, join(dir, "oracle"));
  expect(proven.code, proven.stderr).toBe(0);
});
afterAll(() => remove());

test.each(testedAgents(["toolloop"]).map((agent) => [agent.name, agent] as const))(
  "%s is started anew in every step of a task, and reaches its model and the server in each",
  async (name, agent) => {
    const home = join(dir, name);
    const [api = "chat"] = agent.apis;
    const [first, second] = [talk(TASK, "echo 42 > /app/answer.txt"), talk(TASK, "echo 43 > /app/again.txt")];
    const conversation = { ...first, exchanges: [...first.exchanges, ...second.exchanges] };
    const study = await writeStudy(home, {
      dataset,
      tasks: [TASK],
      agent: { name },
      model: { id: "scripted", api, replay: "cassettes" },
      conversations: spokenBy(agent, [conversation]),
    });
    const { code, stderr, result } = await execute(study, "both", join(home, "run"));
    expect(code, stderr).toBe(0);
    for (const { dir: bundle, rows, report_sha256 } of result.runs) {
      expect(rows).toMatchObject([{ outcome: "scored", reward: 1, metrics: { model: { requests: 4 } } }]);
      const [record] = await recordsOf(bundle);
      expect(record?.steps.map(({ name: step, agentEnd }) => [step, agentEnd?.by])).toEqual([
        ["one", "self"],
        ["two", "self"],
      ]);
      const trajectory = await trajectoryOf(bundle, record);
      const asked = trajectory.steps.filter(({ source }) => source === "user").map(({ message }) => message);
      expect(asked).toEqual([expect.stringContaining("Answer."), expect.stringContaining("Answer again.")]);
      const verified = await runner(["verify", bundle, "--report-sha256", report_sha256]);
      expect(verified.code, verified.stdout + verified.stderr).toBe(0);
    }
  },
);
