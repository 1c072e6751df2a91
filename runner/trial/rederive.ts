import type { ObjectStore } from "../evidence/store.ts";
import { MAX_REWARD_BYTES, readReward } from "../task/reward.ts";
import { combineSteps } from "../task/step-rewards.ts";
import { MAX_VERDICT_BYTES, readVerdict } from "../task/verdict.ts";
import { decisiveFiles, unreadDecisive } from "./decisive.ts";
import type { StepRecord, TrialRecord } from "./record.ts";

/** How a trial's reward comes from its steps' rewards, as the plan binds it. */
export interface RewardRule {
  readonly key: string;
  readonly strategy: "mean" | "final";
  /** Steps that the task declares. */
  readonly steps: number;
  /** By step, whether its verifier shares the agent's filesystem; left out: none does. */
  readonly shared?: readonly boolean[];
}

/** What a second grading tells; the record keeps the files of both. */
const NOT_REPEATABLE = "GRADING_DIFFERS";
/** A shared verifier whose shell the agent took away never ran, so it left no files. */
const UNRUNNABLE = "VERIFIER_UNRUNNABLE";

/**
 * Grades a record again from the bytes that its verifiers left. Returns a sentence for everything that does not come out as recorded: a
 * reward that the files do not give, and as well a reward in the files that the record does not take.
 */
export async function rederiveRewards(
  store: Pick<ObjectStore, "readAll">,
  record: TrialRecord,
  rule: RewardRule,
): Promise<string[]> {
  const reasons: string[] = [];
  for (const [index, step] of record.steps.entries())
    reasons.push(...(await rederiveStep(store, step, rule.key, rule.shared?.[index] === true)));
  const { outcome, reward, rewards, cause, steps } = record;
  const scored = outcome === "scored";
  if (scored !== (reward !== null)) reasons.push(`the outcome is ${outcome} and the reward ${reward}`);
  if (scored !== (rewards !== null))
    reasons.push(`the outcome is ${outcome}, and rewards are ${rewards === null ? "not " : ""}there`);
  if (scored !== (cause === null)) reasons.push(`the outcome is ${outcome} and the cause ${cause?.code ?? "none"}`);
  if (steps.length > rule.steps) reasons.push(`it has ${steps.length} steps, its task ${rule.steps}`);
  const stepCause = steps.find((step) => step.cause !== null)?.cause;
  if (outcome === "verifier_error" && (stepCause == null || stepCause.code !== cause?.code)) {
    reasons.push(
      `the outcome is verifier_error (${cause?.code ?? "no cause"}), and no step's verifier failed that way`,
    );
  }
  if (stepCause != null && outcome !== "verifier_error") {
    reasons.push(`the outcome is ${outcome} although a step's verifier failed (${stepCause.code})`);
  }
  if (!scored) return reasons;
  const graded = steps.flatMap((step) => (step.rewards === null ? [] : [step.rewards]));
  if (graded.length !== steps.length) reasons.push("it is scored although a step has no rewards");
  const combined = combineSteps(rule.strategy, rule.steps, graded);
  if (!sameRewards(combined, rewards ?? {})) {
    reasons.push(`the rewards ${JSON.stringify(rewards)} do not come out of its steps' ${JSON.stringify(combined)}`);
  }
  const primary = Object.hasOwn(combined, rule.key) ? combined[rule.key] : undefined;
  if (reward !== primary) reasons.push(`the reward is ${reward}, its steps give ${primary ?? "none"}`);
  return reasons;
}

/** Whether a verifier graded every step that was run. */
export function isGraded({ steps }: Pick<TrialRecord, "steps">): boolean {
  return steps.length > 0 && steps.every(({ rewards }) => rewards !== null);
}

function sameRewards(a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && a[key] === b[key]);
}

async function rederiveStep(
  store: Pick<ObjectStore, "readAll">,
  step: StepRecord,
  key: string,
  shared: boolean,
): Promise<string[]> {
  const place = `step ${step.name}`;
  const { verifier, rewards, cause, failedCheck } = step;
  if (verifier === null) {
    const unrun = cause === null || (shared && cause.code === UNRUNNABLE);
    return rewards === null && failedCheck === null && unrun ? [] : [`${place} is graded and has no verifier`];
  }
  const reasons: string[] = [];
  const paths = verifier.files.map(({ path }) => path);
  const twice = paths.find((path, index) => paths.indexOf(path) !== index);
  if (twice !== undefined) reasons.push(`${place}: the verifier's file ${twice} is listed twice`);
  const read = async (name: string, cap: number): Promise<Uint8Array | null> => {
    const file = verifier.files.find(({ path }) => path === `/logs/verifier/${name}`);
    if (file === undefined) return null;
    return file.content.size > cap ? new Uint8Array(cap + 1) : store.readAll(file.content);
  };
  const files = { json: await read("reward.json", MAX_REWARD_BYTES), txt: await read("reward.txt", MAX_REWARD_BYTES) };
  const reading = readReward(files, key);
  const verdict = readVerdict(await read("verdict.json", MAX_VERDICT_BYTES));
  const unread = unreadDecisive(verifier.refused);
  const fault =
    verifier.endedBy !== "self"
      ? `its verifier ended by ${verifier.endedBy}`
      : unread !== undefined
        ? `${unread.path} was refused`
        : reading.state === "fault"
          ? reading.detail
          : verdict.state === "invalid"
            ? verdict.detail
            : null;
  if (fault !== null || reading.state === "fault") {
    if (rewards !== null) reasons.push(`${place}: it is graded although ${fault}`);
    if (cause === null) reasons.push(`${place}: it has no cause although ${fault}`);
    return reasons;
  }
  const repeats = step.regraded === undefined || decisiveFiles(step.regraded) === decisiveFiles(verifier);
  if (repeats === (cause?.code === NOT_REPEATABLE))
    reasons.push(
      `${place}: grading it again gave ${repeats ? "no other" : "other"} files, and its cause is ${cause?.code ?? "none"}`,
    );
  if (cause !== null) {
    if (cause.code !== NOT_REPEATABLE)
      reasons.push(`${place}: it failed with ${cause.code} although its verifier's files are whole`);
    if (rewards !== null) reasons.push(`${place}: it has rewards and the cause ${cause.code}`);
  } else if (rewards === null) {
    reasons.push(`${place}: it has no rewards although its verifier's files give some`);
  } else if (!sameRewards(reading.rewards, rewards)) {
    reasons.push(`${place}: the rewards are not those of the verifier's file`);
  }
  const failed = verdict.state === "valid" ? verdict.verdict.failed : null;
  if (failed !== failedCheck) reasons.push(`${place}: the failed check is not the verdict's`);
  return reasons;
}
