import { join } from "node:path";
import { expect, test } from "vitest";
import { overrideStudy } from "../../../runner/study/override-study.ts";
import { loadStudy } from "../../../runner/study/study-file.ts";

const DEMO = join(import.meta.dirname, "..", "..", "..", "benchmarks", "config", "demo.json");
const NOTHING = { agent: null, model: null, reasoningEffort: null };

test("a study that nothing is said in place of stays what it is", async () => {
  const loaded = await loadStudy(DEMO);
  expect(overrideStudy(loaded, NOTHING)).toBe(loaded);
});

test("another agent speaks an API of its own, and the plan is no longer the file's", async () => {
  const loaded = await loadStudy(DEMO);
  const codex = overrideStudy(loaded, { agent: "codex", model: "gpt-5.5", reasoningEffort: "high" });
  expect(codex.overridden).toBe(true);
  expect(codex.digest).toBe(loaded.digest);
  expect(codex.study.agent).toEqual({ name: "codex", reasoningEffort: "high" });
  expect(codex.study.model).toEqual({ ...loaded.study.model, id: "gpt-5.5", api: "responses" });
  const claude = overrideStudy(loaded, { ...NOTHING, agent: "claude-code" });
  expect(claude.study.model).toEqual({ ...loaded.study.model, api: "messages" });
});

test("an agent keeps the study's API where it speaks it, and what the file says of another agent does not pass to it", async () => {
  const loaded = await loadStudy(DEMO);
  const pinned = {
    ...loaded,
    study: { ...loaded.study, agent: { name: "toolloop", version: "1", reasoningEffort: "low" } },
  };
  expect(overrideStudy(pinned, { ...NOTHING, agent: "opencode" }).study).toMatchObject({
    agent: { name: "opencode" },
    model: { api: "chat" },
  });
  expect(overrideStudy(pinned, { ...NOTHING, agent: "opencode" }).study.agent).toEqual({ name: "opencode" });
  expect(overrideStudy(pinned, { ...NOTHING, model: "other" }).study.agent).toEqual(pinned.study.agent);
});

test("an agent that does not exist is refused by name", async () => {
  const loaded = await loadStudy(DEMO);
  expect(() => overrideStudy(loaded, { ...NOTHING, agent: "nobody" })).toThrow('there is no agent "nobody"');
});
