import { expect, test } from "vitest";
import type { AgentCheck, CaseFacts } from "../../../runner/study/check-agent.ts";
import { compareChecks } from "../../../runner/study/compare-checks.ts";

const FACTS: CaseFacts = {
  name: "control",
  outcome: "scored 1",
  detail: null,
  tools: [["bash", "read"]],
  requestsWithoutTools: 0,
  events: ["start", "end"],
  version: "1.0.0",
  hosts: [],
  problems: [],
};
const check = (...cases: CaseFacts[]): AgentCheck => ({ agent: "a", release: "a@1", cases, problems: [] });

test("equal checks differ in nothing, whatever version each names", () => {
  expect(compareChecks(check(FACTS), check({ ...FACTS, version: "2.0.0" }))).toEqual([]);
});

test("every figure that changed is named with both values, in its conversation", () => {
  const now: CaseFacts = {
    ...FACTS,
    outcome: "provider_error",
    detail: "status 500",
    tools: [["bash", "web"], ["bash"]],
    requestsWithoutTools: 2,
    events: ["start", "goal"],
    hosts: ["telemetry.example:443"],
  };
  expect(compareChecks(check(FACTS), check(now))).toEqual([
    "control: outcome was scored 1, is provider_error",
    "control: detail was none, is status 500",
    "control: tools gone: read",
    "control: tools new: web",
    "control: requests without tools was 0, is 2",
    "control: events gone: end",
    "control: events new: goal",
    "control: hosts new: telemetry.example:443",
  ]);
});

test("what changed alike in several conversations is said once, with their names", () => {
  const newer = (name: string, outcome: string): CaseFacts => ({ ...FACTS, name, outcome, tools: [["bash", "goal"]] });
  const before = check(FACTS, { ...FACTS, name: "treatment" });
  expect(compareChecks(before, check(newer("control", "scored 1"), newer("treatment", "scored 0")))).toEqual([
    "control, treatment: tools gone: read",
    "control, treatment: tools new: goal",
    "treatment: outcome was scored 1, is scored 0",
  ]);
});

test("a conversation that only one of them had is not compared", () => {
  expect(compareChecks(check(), check(FACTS))).toEqual([]);
});
