import { expect, test } from "vitest";
import { judgeTask, type OracleRun } from "../../../runner/study/oracle-judgement.ts";
import type { TrialRecord } from "../../../runner/trial/record.ts";

function nop(outcome: TrialRecord["outcome"], code: string): OracleRun {
  const record: TrialRecord = {
    schemaVersion: "1",
    number: 1,
    attempt: 1,
    task: "x",
    taskDigest: `sha256:${"0".repeat(64)}`,
    condition: "none",
    repetition: 1,
    agent: { name: "nop", version: null },
    modelSource: "none",
    outcome,
    cause: { code, detail: "what was seen" },
    reward: null,
    rewards: null,
    steps: [],
    images: {},
    gateway: null,
    elapsed: {},
    observations: [],
    startedAt: "2026-01-01T00:00:00.000Z",
    finishedAt: "2026-01-01T00:00:00.000Z",
  };
  return { role: "nop", trap: null, record, words: "" };
}

test("a verifier without a verdict is told to write one; a fault of something else is not blamed on it", () => {
  expect(judgeTask([nop("verifier_error", "REWARD_MISSING")], false)).toEqual([
    "nop: verifier_error (REWARD_MISSING: what was seen) (the verifier must write a verdict on the failing path too)",
  ]);
  expect(judgeTask([nop("infra_error", "HEALTHCHECK_FAILED")], false)).toEqual([
    "nop: infra_error (HEALTHCHECK_FAILED: what was seen)",
  ]);
});
