import { readdir } from "node:fs/promises";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { nameForModel } from "../../../runner/base/formats/tool-naming.ts";
import { spokenBy, testedAgents } from "../../support/agents.ts";
import { bridgeAddress } from "../../support/docker.ts";
import { json, oracle, type Refusal, runner, scratch, writeBundle } from "../../support/e2e.ts";
import { execute, writeStudy } from "../../support/e2e-study.ts";
import { startGateway, testConfig } from "../../support/model-provider-gateway.ts";

const TASK = "e2e-recorded";
const usage = { input: 100, output: 10 };

let dir: string;
let remove: () => Promise<void>;
let dataset: string;
let bridge: string;

beforeAll(async () => {
  ({ dir, remove } = await scratch());
  dataset = join(dir, "tasks");
  await writeBundle(dataset, TASK);
  const proven = await oracle(dataset, join(dir, "oracle"));
  expect(proven.code, proven.stderr).toBe(0);
  bridge = await bridgeAddress();
});
afterAll(() => remove());

/** Lets containers reach a port of the loopback; gives the port that they see. */
async function openDoor(url: string): Promise<AsyncDisposable & { readonly port: number }> {
  const inner = Number(new URL(url).port);
  const door = createServer((outer) => {
    const socket = connect(inner, "127.0.0.1");
    outer.pipe(socket).pipe(outer);
    for (const end of [outer, socket]) end.on("error", () => [outer, socket].forEach((each) => void each.destroy()));
  });
  await new Promise<void>((resolve) => door.listen(0, "0.0.0.0", resolve));
  return {
    port: (door.address() as AddressInfo).port,
    [Symbol.asyncDispose]: () => new Promise((resolve) => door.close(() => resolve())),
  };
}

test.each(testedAgents().map((agent) => [agent.name, agent] as const))(
  "a live conversation of %s is recorded, and replays with the same agent and no provider",
  async (name, agent) => {
    const [api = "chat"] = agent.apis;
    const home = join(dir, name);
    const add = nameForModel("calc.add", agent.naming("standin"));
    // The two conditions are told apart by what they offer, since one provider answers both.
    const offered = [{ on: "body" as const, matches: "calc[_.]add" }];
    const answer = { toolCalls: [{ name: "shell", arguments: { command: "echo 42 > /app/answer.txt" } }], usage };
    const done = { text: "Done.", usage };
    const conversations = spokenBy(agent, [
      {
        scope: { task: TASK, condition: "treatment" },
        exchanges: [
          {
            match: { turn: 1, expect: offered },
            reply: { toolCalls: [{ name: add, arguments: { a: 40, b: 2 } }], usage },
          },
          { match: { turn: 2, expect: [...offered, { contains: "42" }] }, reply: answer },
          { match: { turn: 3, expect: offered }, reply: done },
          { match: { turn: 1 }, reply: answer },
          { match: { turn: 2 }, reply: done },
        ],
      },
    ]);
    await using provider = await startGateway(
      testConfig({
        scope: { task: TASK, condition: "treatment", repetition: 1 },
        model: { id: "live-1", baseUrl: null },
        replay: true,
      }),
      { cassette: { schemaVersion: "1", modelSource: "scripted", conversations } },
    );
    await using door = await openDoor(provider.url);
    const study = await writeStudy(home, {
      dataset,
      tasks: [TASK],
      agent: { name },
      model: { id: "live-1", api, baseUrl: `http://${bridge}:${door.port}/v1`, apiKeyEnv: "E2E_KEY" },
    });
    const env = { E2E_KEY: "sk-none-of-this-is-real" };
    const cassettes = join(home, "cassettes");
    const live = await execute(study, "both", join(home, "live"), { args: ["--record", cassettes], env });
    expect(live.code, live.stderr).toBe(0);
    for (const { rows } of live.result.runs)
      expect(rows).toMatchObject([{ outcome: "scored", reward: 1, modelSource: "live" }]);
    expect((await readdir(cassettes)).sort()).toEqual([`${TASK}.control.1.json`, `${TASK}.treatment.1.json`]);

    const replayed = await execute(study, "both", join(home, "replayed"), { args: ["--replay", cassettes] });
    expect(replayed.code, replayed.stderr).toBe(0);
    for (const { rows, condition } of replayed.result.runs) {
      const use = condition === "treatment" ? "used" : "not-offered";
      expect(rows).toMatchObject([
        { outcome: "scored", reward: 1, modelSource: "replayed", metrics: { use, lastAnswer: "text" } },
      ]);
    }

    const both = ["--replay", cassettes, "--record", join(home, "more")];
    const refused = await runner([
      ...["execute", "--study", study, "--condition", "treatment", "--execute", "--json"],
      ...["--out", join(home, "refused"), ...both],
    ]);
    expect(json<Refusal>(refused).error.code).toBe("RECORD_UNUSED");
  },
);
