import { type Known, unknown } from "../../../runner/base/unknown.ts";
import { FIGURE_NAMES, type FigureName } from "../../../runner/report/figures.ts";
import type { AttemptLine, PairEnd, ReportModel, Side, TaskLine, TrialLine } from "../../../runner/report/model.ts";
import { endOf } from "../../../runner/report/words.ts";

/** A task id as a stranger's bundle could carry it. */
export const HOSTILE = `=<script>alert("x")</script>|[a](http://example.org)`;

const SHA = `sha256:${"ab".repeat(32)}`;
const NO_VALUE = unknown("missing", "no value is known");
const SIDES = ["control", "treatment"] as const;

function attempt(
  number: number,
  state: AttemptLine["state"],
  outcome: string | null,
  causeDetail: string | null,
): AttemptLine {
  const of = { number: 2, task: "family-000", side: "treatment", repetition: 1 } as const;
  return { ...of, attempt: number, state, outcome, causeDetail };
}

/** A whole pair report over `count` tasks with three repetitions each: wins, losses, ties, lost trials and unknown figures, all fixed. */
export function sampleModel(count: number, overrides: Partial<ReportModel> = {}): ReportModel {
  const tasks = Array.from({ length: count }, (_, index) =>
    index === 3 ? HOSTILE : `family-${String(index).padStart(3, "0")}`,
  );
  const trials = tasks.flatMap((task, index) =>
    [1, 2, 3].flatMap((repetition) => SIDES.map((side) => trial(task, index, repetition, side))),
  );
  const lines = tasks.map((task) => taskLine(task, trials));
  const complete = lines.reduce((sum, { paired }) => sum + (paired?.complete ?? 0), 0);
  return {
    schemaVersion: "1",
    kind: "report",
    subject: "pair",
    study: {
      studyId: "sample",
      evidenceClass: "public-regression-observation",
      causalClaimAuthorized: false,
      subset: false,
      order: "interleaved",
      modelSource: "live",
      repetitions: 3,
      facts: [["agent", "toolloop 1"]],
    },
    sources: [
      { name: "control", sha256: SHA, heldAgainstAnchor: true, checked: "every digest and every derived value" },
      { name: "treatment", sha256: SHA, heldAgainstAnchor: false, checked: "every digest and every derived value" },
    ],
    cautions: ["NOT HELD AGAINST AN ANCHOR: treatment."],
    rules: ["Missing scores are not 0."],
    sides: SIDES.map((side) => ({
      side,
      runId: "run-1",
      order: "interleaved" as const,
      startedAt: "2026-11-30T12:00:00.000Z",
      finishedAt: "2026-11-30T13:00:00.000Z",
      planned: count * 3,
      scored: trials.filter((line) => line.side === side && line.reward !== null).length,
      superseded: side === "treatment" ? 1 : 0,
      cutOff: side === "treatment" ? 1 : 0,
      outcomes: { scored: trials.filter((line) => line.side === side && line.reward !== null).length, interrupted: 0 },
    })),
    tasks: lines,
    trials,
    attempts: [
      attempt(1, "cut off", null, "the runner's process ended"),
      attempt(2, "superseded", "provider_error", "the provider failed (status 429)"),
      attempt(3, "counts", "scored", null),
    ],
    paired: {
      verdict: "better",
      reasons: ["the 95 % interval excludes 0"],
      result: {
        control: 0.4,
        treatment: 0.55,
        difference: 0.15,
        interval: { low: 0.04, high: 0.26, level: 0.95, method: "ft15" },
        test: { p: 0.0123, method: "exact" },
        worstCase: { low: -0.02, high: 0.31 },
        plannedPairs: count * 3,
        completePairs: complete,
        tasks: count,
        interpretation: ["Observed: the treatment did better."],
        method: ["The unit is the task."],
        pairs: pairsOf(trials),
        secondary: [
          {
            label: "input tokens",
            unit: "tokens",
            completePairs: complete - 1,
            plannedPairs: count * 3,
            control: 4000,
            treatment: 5200,
            difference: 1200,
            interval: { low: -300, high: 2700 },
            adjustedP: unknown("unavailable", "too few tasks"),
          },
        ],
        server: {
          use: [
            ["used", count * 2],
            ["available and unused", 0],
            ["own tools beside the server", count],
          ],
          figures: [
            {
              label: "valid server calls",
              unit: "count",
              trials: count * 3,
              known: count * 3,
              mean: 2.5,
              min: 0,
              max: 4,
            },
            {
              ...{ label: "server tool time", unit: "us", trials: count * 3, known: 0 },
              ...{ mean: NO_VALUE, min: NO_VALUE, max: NO_VALUE },
            },
          ],
        },
      },
    },
    timelines: [
      {
        number: 1,
        task: tasks[0] ?? "none",
        side: "control",
        repetition: 1,
        modelSource: "live",
        spans: [
          { lane: "model", label: "model", startMicros: 1_000_000, endMicros: 4_000_000, ok: true, problem: null },
          { lane: "own", label: "shell", startMicros: 4_000_000, endMicros: 9_000_000, ok: true, problem: null },
          {
            lane: "model",
            label: "model",
            startMicros: 9_000_000,
            endMicros: 9_500_000,
            ok: false,
            problem: "HTTP 500",
          },
        ],
      },
      {
        number: 2,
        task: tasks[0] ?? "none",
        side: "treatment",
        repetition: 1,
        modelSource: "live",
        spans: unknown("truncated", "the trace has no end"),
      },
    ],
    timelinesLeftOut: null,
    reviews: [],
    ...overrides,
  };
}

function trial(task: string, index: number, repetition: number, side: Side): TrialLine {
  const seed = (index * 7 + repetition * 3 + (side === "treatment" ? 5 : 0)) % 11;
  const lost = index % 9 === 4 && repetition === 2 && side === "control";
  const gain = side === "treatment" ? 2 : 0;
  const reward = lost ? null : seed + gain > 6 ? 1 : seed + gain === 6 ? 0.5 : 0;
  const figure = (factor: number): Known<number> => factor * (100 + seed * 37 + index * 5);
  const missing = unknown("missing", "the trial left no trace");
  const zeros = Object.fromEntries(FIGURE_NAMES.map((name) => [name, 0])) as Record<FigureName, Known<number>>;
  const served = side === "treatment";
  const figures: Record<FigureName, Known<number>> = {
    ...zeros,
    "time.total": figure(300_000),
    "time.agent": figure(100_000),
    "model.requests": 4 + seed,
    "tokens.input": lost ? missing : figure(40),
    "tokens.output": lost ? missing : figure(2),
    "model.cost": lost ? missing : figure(11),
    "tools.own": seed,
    "server.valid": served ? seed % 5 : 0,
    "server.invalid": served ? 1 : 0,
    "server.faults.tool-error": served ? 1 : 0,
    "server.irrelevantCalls": unknown("unavailable", "the task does not say which operations it is about"),
    "server.discovered": served ? 3 : 0,
    "server.run": served ? 2 : 0,
    "server.completed": served ? 1 : 0,
    "server.visibleBytes": served ? figure(31) : 0,
  };
  return {
    number: index * 6 + repetition * 2 + (side === "treatment" ? 0 : -1),
    attempt: 1,
    task,
    side,
    repetition,
    outcome: lost ? "provider_error" : "scored",
    cause: lost ? "PROVIDER_429" : null,
    causeDetail: lost ? "the provider answered 429 <slow down>" : null,
    failedCheck: reward === 0 ? "value.right" : null,
    agentEnd: "self",
    reward,
    rewards: reward === null ? null : { reward, correctness: reward },
    submission: "valid",
    modelSource: "live",
    figures,
    serverUse: served
      ? { use: seed % 5 === 0 ? "attempted" : "used", fallback: seed === 0 ? "none" : "beside" }
      : { use: "not-offered", fallback: unknown("unavailable", "there is no server to fall back from") },
    account: lost ? missing : index === 2 && served ? ["1 call not sent"] : [],
    observations: index === 3 && repetition === 1 ? [`settings planted for an agent: ${HOSTILE}`] : [],
  };
}

function taskLine(task: string, trials: readonly TrialLine[]): TaskLine {
  const own = trials.filter((line) => line.task === task);
  const side = (name: Side) => {
    const mine = own.filter((line) => line.side === name);
    const rewards = mine.flatMap(({ reward }) => (reward === null ? [] : [reward]));
    const sum = rewards.reduce((total, reward) => total + reward, 0);
    const lost = mine.length - rewards.length;
    return {
      planned: mine.length,
      scored: rewards.length,
      solved: rewards.filter((reward) => reward === 1).length,
      mean: sum / rewards.length,
      low: sum / mine.length,
      high: (sum + lost) / mine.length,
      unscored: lost === 0 ? {} : { provider_error: lost },
    };
  };
  const [control, treatment] = [side("control"), side("treatment")];
  const difference = treatment.mean - control.mean;
  const outcome = difference > 0 ? "won" : difference < 0 ? "lost" : "tied";
  return {
    task,
    control,
    treatment,
    paired: {
      planned: 3,
      complete: Math.min(control.scored, treatment.scored),
      control: control.mean,
      treatment: treatment.mean,
      difference,
      outcome,
    },
  };
}

function pairsOf(trials: readonly TrialLine[]) {
  const counts = new Map<string, { control: PairEnd; treatment: PairEnd; count: number }>();
  for (const control of trials.filter(({ side }) => side === "control")) {
    const treatment = trials.find(
      (line) => line.side === "treatment" && line.task === control.task && line.repetition === control.repetition,
    );
    if (treatment === undefined) continue;
    const ends = { control: endOf(control), treatment: endOf(treatment) };
    const key = JSON.stringify(ends);
    counts.set(key, { ...ends, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()];
}
