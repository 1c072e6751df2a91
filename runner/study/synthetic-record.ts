import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { digestJson } from "../base/digest.ts";
import { seededRandom } from "../base/random.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { trialIdOf } from "../trial/gateway-plan.ts";
import { type TrialRecord, trialRecordSchema } from "../trial/record.ts";
import type { PlannedTrial } from "./order.ts";
import type { Plan } from "./plan.ts";
import { syntheticImage } from "./synthetic-plan.ts";
import { noise } from "./synthetic-text.ts";
import { writeSyntheticTrace } from "./synthetic-trace.ts";

/** Writes the records of trials that were never run, with everything that they name. */
export interface SyntheticRecords extends AsyncDisposable {
  readonly write: (store: ObjectStore, runId: string, planned: PlannedTrial, plan: Plan) => Promise<TrialRecord>;
}

/** Share of tasks solved in control, and what the treatment adds to it. */
const SOLVED = { control: 0.45, treatment: 0.08 };

/**
 * Makes a writer whose trials collect `payloadBytes` of artifacts each: a third in one file and the rest in another, so that reading many
 * files and reading large ones both count.
 */
export async function openSyntheticRecords(payloadBytes: number): Promise<SyntheticRecords> {
  const scratch = await mkdtemp(join(tmpdir(), "runner-synthetic-"));
  return {
    write: async (store, runId, planned, plan) => {
      const { number, task, condition, repetition } = planned;
      const spec = { number, attempt: 1, condition };
      const { gateway, transcript } = await writeSyntheticTrace(store, scratch, trialIdOf(runId, spec), planned, plan);
      const solved = seededRandom(`${plan.seed} ${number}`).uniform() < chance(task, condition);
      const rewards = { reward: solved ? 1 : 0, correctness: solved ? 1 : 0, completeness: 1 };
      const verdict = {
        schemaVersion: "1",
        checks: [{ id: "answer", passed: solved }],
        failed: solved ? null : "answer",
      };
      const capture = async (text: string) => {
        const head = await store.put(text);
        return { head, tail: null, bytes: head.size, truncated: false };
      };
      const artifact = async (path: string, content: Uint8Array) => ({
        path,
        type: "file" as const,
        mode: 0o644,
        content: await store.put(content),
        linkTarget: null,
      });
      const small = Math.floor(payloadBytes / 3);
      const empty = await capture("");
      const step = {
        name: "main",
        agentEnd: { by: "self", exitCode: 0, detail: null },
        agentOutput: { stdout: await capture(transcript), stderr: empty },
        artifacts: [
          await artifact("/app/data.bin", noise(`data of ${runId} ${number}`, payloadBytes - small)),
          await artifact("/app/state.bin", noise(`state of ${runId} ${number}`, small)),
          await artifact("/app/submission.json", canonicalBytes({ instance: task, trial: number, solved })),
        ],
        refused: [],
        planted: [],
        submission: { status: "valid", places: [] },
        verifier: {
          mode: "separate",
          image: syntheticImage("verifier").imageId,
          endedBy: "self",
          exitCode: 0,
          stdout: empty,
          stderr: empty,
          files: [
            { path: "/logs/verifier/reward.json", content: await store.put(canonicalBytes(rewards)) },
            { path: "/logs/verifier/verdict.json", content: await store.put(canonicalBytes(verdict)) },
          ],
        },
        rewards,
        failedCheck: verdict.failed,
        cause: null,
      };
      return trialRecordSchema.parse({
        schemaVersion: "1",
        number,
        attempt: 1,
        task,
        taskDigest: plan.tasks.find(({ id }) => id === task)?.digests.task,
        condition,
        repetition,
        agent: { name: plan.agent.name, version: plan.agent.version },
        modelSource: "scripted",
        outcome: "scored",
        cause: null,
        reward: rewards.reward,
        rewards,
        steps: [step],
        images: {
          environment: digestJson([task, "synthetic environment image"]),
          "verifier-1": syntheticImage("verifier").imageId,
          gateway: syntheticImage("gateway").imageId,
          ...(condition === "treatment" ? { mcp: syntheticImage("jacobian").imageId } : {}),
        },
        gateway,
        elapsed: {
          gateway: 60_000,
          provision: 400_000,
          agent: 4_000_000 + 37 * number,
          collect: 150_000,
          verify: 900_000,
          total: 6_000_000 + 37 * number,
        },
        observations: ["synthetic: written by the benchmark of evidence, never run"],
        startedAt: "2026-01-01T00:00:00.000Z",
        finishedAt: "2026-01-01T00:00:06.000Z",
      });
    },
    [Symbol.asyncDispose]: () => rm(scratch, { recursive: true, force: true }),
  };
}

/** Tasks differ in difficulty, so that the comparison has a spread to work with. */
function chance(task: string, condition: PlannedTrial["condition"]): number {
  const ease = seededRandom(task).uniform() - 0.5;
  return SOLVED.control + ease * 0.8 + (condition === "treatment" ? SOLVED.treatment : 0);
}
