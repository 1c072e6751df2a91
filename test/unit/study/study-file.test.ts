import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadStudy } from "../../../runner/study/study-file.ts";
import { PROJECT_ROOT } from "../../support/runner.ts";

let dir: string;
let demo: Record<string, unknown>;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "study-"));
  demo = JSON.parse(await readFile(join(PROJECT_ROOT, "benchmarks/config/demo.json"), "utf8"));
});
afterEach(() => rm(dir, { recursive: true }));

async function refusal(study: unknown): Promise<string> {
  const path = join(dir, "study.json");
  await writeFile(path, typeof study === "string" ? study : JSON.stringify(study));
  return loadStudy(path).then(
    () => "accepted",
    (error: Error) => error.message.replace(path, "study.json"),
  );
}

test("the demo's study is accepted as it stands", async () => {
  expect(await refusal(demo)).toBe("accepted");
});

test("each mistake gets one error that names the file, the place and the value", async () => {
  expect({
    unknownKey: await refusal({ ...demo, repetition: 3 }),
    wrongType: await refusal({ ...demo, seed: "7", repetitions: 0 }),
    duplicateKey: await refusal('{"schemaVersion":"1","schemaVersion":"1"}'),
    twice: await refusal({ ...demo, tasks: ["a", "b", "a"], expectedOperations: {} }),
    cost: await refusal({ ...demo, budgets: { ...(demo.budgets as object), costMicroUsd: 5 } }),
    command: await refusal({ ...demo, agent: { name: "command" } }),
    nowhere: await refusal({ ...demo, model: { id: "m", api: "chat" } }),
    causal: await refusal({ ...demo, causalClaimAuthorized: true }),
    stranger: await refusal({ ...demo, expectedOperations: { "no-such-task": ["x.y"] } }),
  }).toMatchInlineSnapshot(`
    {
      "causal": "study.json: causalClaimAuthorized: Invalid input: expected false, got true",
      "command": "study.json: agent.command: agent "command" needs the command line to run",
      "cost": "study.json: budgets.costMicroUsd: a cost budget needs model.pricesMicroUsdPerMTok",
      "duplicateKey": "study.json: line 1, column 22: duplicate key "schemaVersion"",
      "nowhere": "study.json: model: name a baseUrl to call, or a replay folder",
      "stranger": "study.json: expectedOperations: no-such-task is not one of the study's tasks",
      "twice": "study.json: tasks: a named more than once",
      "unknownKey": "study.json: the root: Unrecognized key: "repetition"",
      "wrongType": "study.json: repetitions: Too small: expected number to be >=1, got 0; seed: Invalid input: expected number, received string, got "7"",
    }
  `);
});

test("an absent study says so", async () => {
  await expect(loadStudy(join(dir, "none.json"))).rejects.toThrow("none.json does not exist");
});
