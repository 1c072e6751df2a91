import { describe, expect, test } from "vitest";
import { MODEL_AGENTS } from "../../../runner/agent/registry.ts";
import { cassetteSchema } from "../../../runner/base/formats/cassette.ts";
import { judgeToolNames } from "../../../runner/base/formats/tool-naming.ts";
import { checkCases } from "../../../runner/study/check-agent-cases.ts";

describe.each(MODEL_AGENTS.map((agent) => [agent.name, agent] as const))("%s", (_name, agent) => {
  test("its conversations are valid cassettes that begin where its own opening turns end", () => {
    for (const { name, exchanges } of checkCases(agent, 60)) {
      const cassette = cassetteSchema.parse({
        schemaVersion: "1",
        modelSource: "scripted",
        conversations: [{ scope: { task: "t", condition: "any" }, exchanges }],
      });
      expect(cassette.conversations[0]?.exchanges[0]?.match, name).toMatchObject({ turn: agent.openingTurns + 1 });
    }
  });

  test("its model calls a shell that is one of its own tools", () => {
    const { name } = agent.shellCall("true");
    const naming = agent.naming("server");
    expect(judgeToolNames([name], { condition: "control", serverTools: ["calc.add"], naming })).toEqual([]);
  });

  test("idling is a number of naps that adds up to the time asked for", () => {
    const [control] = checkCases(agent, 60);
    const [plain] = checkCases(agent, 0);
    expect((control?.exchanges.length ?? 0) - (plain?.exchanges.length ?? 0)).toBe(3);
  });
});
