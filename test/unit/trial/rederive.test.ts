import { expect, test } from "vitest";
import { digestBytes } from "../../../runner/base/digest.ts";
import type { ObjectRef } from "../../../runner/evidence/object-ref.ts";
import type { Cause, StepRecord, TrialRecord, VerifierRecord } from "../../../runner/trial/record.ts";
import { trialRecordSchema } from "../../../runner/trial/record.ts";
import { rederiveRewards } from "../../../runner/trial/rederive.ts";

const RULE = { key: "reward", strategy: "mean", steps: 1 } as const;
const objects = new Map<string, Buffer>();
const store = { readAll: async ({ digest }: ObjectRef) => objects.get(digest) ?? Buffer.alloc(0) };

function put(text: string): ObjectRef {
  const bytes = Buffer.from(text);
  const digest = digestBytes(bytes);
  objects.set(digest, bytes);
  return { digest, size: bytes.length };
}

function verifier(files: Record<string, string>, refused?: VerifierRecord["refused"]): VerifierRecord {
  const empty = { head: put(""), tail: null, bytes: 0, truncated: false };
  return {
    mode: "separate",
    image: digestBytes(Buffer.from("image")),
    endedBy: "self",
    exitCode: 0,
    stdout: empty,
    stderr: empty,
    files: Object.entries(files).map(([name, text]) => ({ path: `/logs/verifier/${name}`, content: put(text) })),
    ...(refused === undefined ? {} : { refused }),
  };
}

function trial(graded: Pick<StepRecord, "verifier" | "regraded">, cause: Cause | null): TrialRecord {
  const rewards = cause === null ? { reward: 1 } : null;
  const step: StepRecord = {
    name: "main",
    agentEnd: { by: "self", exitCode: 0, detail: null },
    agentOutput: null,
    artifacts: [],
    refused: [],
    planted: [],
    submission: { status: "undeclared", places: [] },
    ...graded,
    rewards,
    failedCheck: null,
    cause,
  };
  return trialRecordSchema.parse({
    schemaVersion: "1",
    number: 1,
    attempt: 1,
    task: "x",
    taskDigest: digestBytes(Buffer.from("task")),
    condition: "none",
    repetition: 1,
    agent: { name: "oracle", version: null },
    modelSource: "none",
    outcome: cause === null ? "scored" : "verifier_error",
    cause,
    reward: rewards?.reward ?? null,
    rewards,
    steps: [step],
    images: {},
    gateway: null,
    elapsed: {},
    observations: [],
    startedAt: "2026-01-01T00:00:00.000Z",
    finishedAt: "2026-01-01T00:00:00.000Z",
  });
}

const derive = (graded: Pick<StepRecord, "verifier" | "regraded">, cause: string | null = null): Promise<string[]> =>
  rederiveRewards(store, trial(graded, cause === null ? null : { code: cause, detail: "x" }), RULE);

test("a verifier that could not be run in the agent's own filesystem left nothing; a separate one is no agent's doing", async () => {
  const record = trial({ verifier: null }, { code: "VERIFIER_UNRUNNABLE", detail: "no such file" });
  expect(await rederiveRewards(store, record, { ...RULE, shared: [true] })).toEqual([]);
  for (const shared of [[false], []])
    expect(await rederiveRewards(store, record, { ...RULE, shared })).toEqual([
      "step main is graded and has no verifier",
    ]);
});

test("a second grading may differ in what it logs, but not in the files that decide", async () => {
  const first = verifier({ "reward.txt": "1", "times.log": "17 ms" });
  const same = verifier({ "reward.txt": "1", "times.log": "19 ms" });
  const other = verifier({ "reward.txt": "0" });
  expect(await derive({ verifier: first, regraded: same })).toEqual([]);
  expect(await derive({ verifier: first, regraded: other }, "GRADING_DIFFERS")).toEqual([]);
  expect(await derive({ verifier: first, regraded: other })).toEqual([
    "step main: grading it again gave other files, and its cause is none",
  ]);
  expect(await derive({ verifier: first, regraded: same }, "GRADING_DIFFERS")).toEqual([
    "step main: grading it again gave no other files, and its cause is GRADING_DIFFERS",
  ]);
});

test("a decisive file that was not read is a fault that comes out again, whatever the other file says", async () => {
  const link = [{ path: "/logs/verifier/reward.json", reason: "symlink" }];
  const linked = verifier({ "reward.txt": "1" }, link);
  expect(await derive({ verifier: linked }, "REWARD_UNREADABLE")).toEqual([]);
  expect(await derive({ verifier: linked })).toEqual([
    "step main: it is graded although /logs/verifier/reward.json was refused",
    "step main: it has no cause although /logs/verifier/reward.json was refused",
  ]);
});
