import { isUnknown, unknown } from "../base/unknown.ts";
import { FIGURE_NAMES } from "../report/figures.ts";
import type { AttemptLine, Side, SideFacts, TaskLine, TaskSide, TrialLine } from "../report/model.ts";
import type { TrialFacts } from "./examine-trial.ts";
import type { ReportedBundle } from "./report-bundle.ts";
import { READ_FIGURE } from "./trial-figures.ts";
import type { TrialRow } from "./trial-row.ts";

/** The trials of a bundle as report lines, by task, then repetition. */
export function trialLines({ trials, report }: ReportedBundle): TrialLine[] {
  return trials.map(({ row, facts }) => trialLine(row, facts, report.condition)).sort(compareLines);
}

interface Place {
  readonly task: string;
  readonly repetition: number;
  readonly side: string;
}

/** By task, repetition and condition. */
export function compareLines(a: Place, b: Place): number {
  return compareText(a.task, b.task) || a.repetition - b.repetition || compareText(a.side, b.side);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function trialLine(row: TrialRow, facts: TrialFacts, side: Side): TrialLine {
  return {
    number: row.number,
    attempt: row.attempt,
    task: row.task,
    side,
    repetition: row.repetition,
    outcome: row.outcome,
    cause: row.cause,
    causeDetail: facts.causeDetail,
    failedCheck: facts.failedCheck,
    agentEnd: row.agentEnd,
    reward: row.reward,
    rewards: row.rewards,
    submission: row.submission,
    modelSource: row.modelSource,
    figures: figuresOf(row),
    serverUse: serverUseOf(row),
    account: accountOf(row),
    observations: facts.observations,
  };
}

function figuresOf(row: TrialRow): TrialLine["figures"] {
  return Object.fromEntries(FIGURE_NAMES.map((name) => [name, READ_FIGURE[name](row)])) as TrialLine["figures"];
}

/** How the trial used the server, in the trace's words; null for an agent that no model drives. */
function serverUseOf({ metrics }: TrialRow): TrialLine["serverUse"] {
  if (metrics === null) return null;
  if (isUnknown(metrics)) return { use: metrics, fallback: metrics };
  return { use: metrics.use, fallback: metrics.fallback };
}

/** What the agent's own account says otherwise than the gateway's record; null for an agent that no model drives. */
function accountOf({ transcript }: TrialRow): TrialLine["account"] {
  if (transcript === null || isUnknown(transcript)) return transcript;
  const { differences, tokens } = transcript;
  if (isUnknown(differences)) return differences;
  return [
    ...Object.entries(differences).flatMap(([cause, count]) =>
      count === 0 ? [] : [`${count} ${count === 1 ? "call" : "calls"} ${cause.replaceAll("-", " ")}`],
    ),
    ...(isUnknown(tokens)
      ? []
      : tokens.map(
          ({ figure, agent, gateway }) => `${figure} tokens: ${agent} by the agent, ${gateway} by the gateway`,
        )),
  ];
}

/** Every attempt of the trials of a bundle that had more than one. */
export function attemptLines({ report, plan, trials, superseded }: ReportedBundle): AttemptLine[] {
  const planned = new Map(plan.trials.map((trial) => [trial.number, trial]));
  const several = new Set([...report.superseded, ...(report.cutOff ?? [])].map(({ number }) => number));
  const line = (
    number: number,
    rest: Pick<AttemptLine, "attempt" | "state" | "outcome" | "causeDetail">,
  ): AttemptLine => {
    const { task = "", repetition = 0 } = planned.get(number) ?? {};
    return { number, task, repetition, side: report.condition, ...rest };
  };
  const cutOff = { state: "cut off", outcome: null, causeDetail: "the runner's process ended" } as const;
  const lines: AttemptLine[] = [
    ...superseded.map(({ number, attempt, outcome, causeDetail, graded }) => {
      const why = graded ? [causeDetail, "set aside although graded"].filter(Boolean).join("; ") : causeDetail;
      return line(number, { attempt, outcome, causeDetail: why, state: "superseded" });
    }),
    ...(report.cutOff ?? []).map(({ number, attempt }) => line(number, { attempt, ...cutOff })),
    ...trials
      .filter(({ row }) => several.has(row.number))
      .map(({ row: { number, attempt, outcome }, facts: { causeDetail } }) =>
        line(number, { attempt, state: "counts", outcome, causeDetail }),
      ),
  ];
  return lines.sort((a, b) => compareLines(a, b) || a.attempt - b.attempt);
}

/** A condition's run in one line. */
export function sideFacts({ report, trials }: ReportedBundle): SideFacts {
  return {
    side: report.condition,
    runId: report.runId,
    order: report.order,
    startedAt: report.startedAt,
    finishedAt: report.finishedAt,
    planned: trials.length,
    scored: trials.filter(({ row }) => row.reward !== null).length,
    superseded: report.superseded.length,
    cutOff: report.cutOff?.length ?? 0,
    outcomes: report.outcomes,
  };
}

/** A line per task, the sides that were run filled in; the paired part is added by whoever compares. */
export function taskLines(trials: readonly SideTrial[], sides: readonly Side[]): Omit<TaskLine, "paired">[] {
  const tasks = new Map<string, SideTrial[]>();
  for (const trial of trials) tasks.set(trial.task, [...(tasks.get(trial.task) ?? []), trial]);
  return [...tasks]
    .sort(([a], [b]) => compareText(a, b))
    .map(([task, own]) => ({
      task,
      control: sides.includes("control") ? taskSide(own.filter(({ side }) => side === "control")) : null,
      treatment: sides.includes("treatment") ? taskSide(own.filter(({ side }) => side === "treatment")) : null,
    }));
}

/** What a task's line needs of a trial. */
export type SideTrial = Pick<TrialLine, "task" | "side" | "outcome" | "reward">;

function taskSide(trials: readonly SideTrial[]): TaskSide {
  const rewards = trials.flatMap(({ reward }) => (reward === null ? [] : [reward]));
  const sum = rewards.reduce((total, reward) => total + reward, 0);
  const unscored: Record<string, number> = {};
  for (const { reward, outcome } of trials) if (reward === null) unscored[outcome] = (unscored[outcome] ?? 0) + 1;
  const planned = trials.length;
  return {
    planned,
    scored: rewards.length,
    solved: rewards.filter((reward) => reward === 1).length,
    mean: rewards.length === 0 ? unknown("missing", "no trial is scored") : sum / rewards.length,
    low: planned === 0 ? 0 : sum / planned,
    high: planned === 0 ? 1 : (sum + planned - rewards.length) / planned,
    unscored,
  };
}
