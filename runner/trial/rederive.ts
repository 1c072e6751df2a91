import { messageOf } from "../base/errors.ts";
import type { ToolNaming } from "../base/formats/tool-naming.ts";
import type { ObjectStore } from "../evidence/store.ts";
import { MAX_REWARD_BYTES, readReward } from "../task/reward.ts";
import { MAX_VERDICT_BYTES, readVerdict } from "../task/verdict.ts";
import { judgeToolsOffered } from "../trace/judge-tools.ts";
import { readTrace } from "../trace/read-trace.ts";
import type { StepRecord, TrialRecord } from "./record.ts";

const MAX_TRACE_BYTES = 256 * 1024 * 1024;

/**
 * Grades a record again from the bytes the verifier left and judges its condition again from the gateway's trace. Returns a sentence for
 * everything that does not come out as recorded.
 */
export async function rederiveTrial(
  store: Pick<ObjectStore, "readAll">,
  record: TrialRecord,
  context: { readonly naming: ToolNaming | null; readonly serverTools: readonly string[] },
): Promise<string[]> {
  const reasons: string[] = [];
  const primaryKeys = new Set<string>();
  for (const step of record.steps) reasons.push(...(await rederiveStep(store, step, primaryKeys)));
  const scored = record.outcome === "scored";
  if (scored !== (record.reward !== null))
    reasons.push(`the outcome is ${record.outcome} and the reward ${record.reward}`);
  if (scored && record.steps.length === 1) {
    const rewards = record.steps[0]?.rewards ?? null;
    if (rewards === null || !Object.values(rewards).includes(record.reward ?? Number.NaN)) {
      reasons.push(`the reward ${record.reward} is none of its step's`);
    }
  }
  if (scored && record.steps.some((step) => step.cause !== null)) reasons.push("it is scored although a step failed");
  if (scored && context.naming !== null)
    reasons.push(...(await rederiveCondition(store, record, context.naming, context.serverTools)));
  return reasons;
}

async function rederiveStep(
  store: Pick<ObjectStore, "readAll">,
  step: StepRecord,
  keys: Set<string>,
): Promise<string[]> {
  if (step.verifier === null) return step.rewards === null ? [] : [`step ${step.name} has rewards and no verifier`];
  if (step.rewards === null) return [];
  const read = async (name: string, cap: number): Promise<Uint8Array | null> => {
    const file = step.verifier?.files.find(({ path }) => path === `/logs/verifier/${name}`);
    if (file === undefined) return null;
    return file.content.size > cap ? new Uint8Array(cap + 1) : store.readAll(file.content);
  };
  const files = { json: await read("reward.json", MAX_REWARD_BYTES), txt: await read("reward.txt", MAX_REWARD_BYTES) };
  const key = Object.keys(step.rewards).includes("reward") ? "reward" : (Object.keys(step.rewards)[0] ?? "reward");
  keys.add(key);
  const reading = readReward(files, key);
  if (reading.state === "fault") return [`step ${step.name}: ${reading.detail}`];
  const reasons: string[] = [];
  const same =
    Object.keys(reading.rewards).length === Object.keys(step.rewards).length &&
    Object.entries(reading.rewards).every(([name, value]) => step.rewards?.[name] === value);
  if (!same) reasons.push(`step ${step.name}: the rewards are not those of the verifier's file`);
  const verdict = readVerdict(await read("verdict.json", MAX_VERDICT_BYTES));
  const failed = verdict.state === "valid" ? verdict.verdict.failed : null;
  if (verdict.state === "invalid" || failed !== step.failedCheck) {
    reasons.push(`step ${step.name}: the failed check is not the verdict's`);
  }
  if (step.verifier.endedBy !== "self")
    reasons.push(`step ${step.name}: it is graded although its verifier ended by ${step.verifier.endedBy}`);
  return reasons;
}

async function rederiveCondition(
  store: Pick<ObjectStore, "readAll">,
  record: TrialRecord,
  naming: ToolNaming,
  serverTools: readonly string[],
): Promise<string[]> {
  if (record.condition === "none") return [];
  if (record.gateway === null) return ["it is scored although its gateway left no trace"];
  try {
    const trace = readTrace(await store.readAll(record.gateway.trace, MAX_TRACE_BYTES), "the trace");
    if (!trace.complete)
      return [`it is scored although its trace is not complete: ${trace.problem ?? "it has no end"}`];
    const start = trace.events.find((event) => event.type === "start");
    const { verdict, problems } = judgeToolsOffered(trace.events, { condition: record.condition, serverTools, naming });
    const reasons =
      verdict === "as-expected"
        ? []
        : [`the trace does not prove the condition: ${problems.join("; ") || "no request offered tools"}`];
    const { scope } = start ?? {};
    if (scope?.task !== record.task || scope.condition !== record.condition || scope.repetition !== record.repetition) {
      reasons.push("the trace belongs to another trial");
    }
    return reasons;
  } catch (thrown) {
    return [messageOf(thrown)];
  }
}
