import type { Trap } from "../task/model.ts";
import type { TrialRecord } from "../trial/record.ts";

/** One run of a validation: who played, and what came out. */
export interface OracleRun {
  readonly role: "oracle" | "nop" | "trap";
  readonly trap: Trap | null;
  readonly record: TrialRecord;
  /** The last words of the verifier's log. */
  readonly words: string;
}

/**
 * Lists everything that speaks against a task: an oracle that does not reach 1 (in every dimension, for our own tasks), a nop or a trap
 * that does not get 0, a trap that fails another check than it should, and any run without a verdict. Empty means solvable and
 * discriminating.
 */
export function judgeTask(runs: readonly OracleRun[], own: boolean): string[] {
  return runs.flatMap((run) => (run.role === "oracle" ? judgeOracle(run, own) : judgeLoser(run, own)));
}

function judgeOracle({ record, words }: OracleRun, own: boolean): string[] {
  if (record.outcome !== "scored") return [`oracle: ${withoutVerdict(record)}`];
  const short = Object.entries(record.rewards ?? {}).filter(([, value]) => value !== 1);
  if (record.reward !== 1) {
    return [
      `oracle: reward ${record.reward}, expected 1${failedCheck(record)}; collected: ${artifactsOf(record)}${leftBehind(record)}${lastEnd(record)}${words === "" ? "" : `; the verifier's last words: ${words}`}`,
    ];
  }
  return own && short.length > 0
    ? [`oracle: ${short.map(([key, value]) => `${key} is ${value}`).join(", ")}, expected 1 in every dimension`]
    : [];
}

function judgeLoser({ role, trap, record }: OracleRun, own: boolean): string[] {
  const name = trap === null ? role : `trap ${trap.name}`;
  if (record.outcome !== "scored") {
    const verifierFault = record.outcome === "verifier_error";
    return [
      `${name}: ${withoutVerdict(record)}${verifierFault ? " (the verifier must write a verdict on the failing path too)" : ""}`,
    ];
  }
  if (record.reward !== 0) return [`${name}: reward ${record.reward}, expected 0`];
  const failed = record.steps.at(-1)?.failedCheck ?? null;
  if (own && trap !== null && failed !== trap.fails) {
    return [`${name}: failed check ${failed ?? "none"}, expected ${trap.fails}`];
  }
  return [];
}

function withoutVerdict(record: TrialRecord): string {
  return `${record.outcome}${record.cause === null ? "" : ` (${record.cause.code}: ${record.cause.detail})`}`;
}

function failedCheck(record: TrialRecord): string {
  const failed = record.steps.map((step) => step.failedCheck).filter((check) => check !== null);
  return failed.length === 0 ? "" : `, failed check ${failed.join(", ")}`;
}

function artifactsOf(record: TrialRecord): string {
  const files = record.steps.flatMap((step) => step.artifacts).filter(({ type }) => type === "file");
  return files.length === 0 ? "nothing" : files.map(({ path }) => path).join(", ");
}

function leftBehind(record: TrialRecord): string {
  const refused = record.steps.flatMap((step) => step.refused.slice(0, 10));
  return refused.length === 0
    ? ""
    : `; left behind: ${refused.map(({ path, reason }) => `${path} (${reason})`).join(", ")}`;
}

function lastEnd(record: TrialRecord): string {
  const ends = record.steps.flatMap(({ agentEnd }) => (agentEnd?.detail == null ? [] : [agentEnd.detail]));
  return ends.length === 0 ? "" : `; ${ends.join("; ")}`;
}
