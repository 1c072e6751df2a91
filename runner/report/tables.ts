import { isUnknown } from "../base/unknown.ts";
import { FIGURES, type FigureName } from "./figures.ts";
import type { PairedResult, ReportModel, TaskLine, TrialLine } from "./model.ts";
import {
  amount,
  boundsWords,
  knownWords,
  outcomeWords,
  points,
  pValue,
  score,
  shortKnown,
  trialName,
  unscoredWords,
} from "./words.ts";

/** A table for Markdown and HTML alike. */
export interface Table {
  readonly head: readonly string[];
  /** Made as they are asked for: there may be very many. */
  readonly rows: Iterable<readonly string[]>;
}

/** Rows from what they tell of, each time anew. */
export function rowsOf<T>(items: readonly T[], rows: (item: T) => Iterable<readonly string[]>): Table["rows"] {
  return {
    *[Symbol.iterator]() {
      for (const item of items) yield* rows(item);
    },
  };
}

export function isEmpty({ rows }: Table): boolean {
  for (const _ of rows) return false;
  return true;
}

/** What the report was made from, and whether it was held against an anchor. */
export function sourceTable({ sources }: ReportModel): Table {
  return {
    head: ["document", "sha256", "held against an anchor", "recomputed"],
    rows: sources.map(({ name, sha256, heldAgainstAnchor, checked }) => [
      name,
      sha256,
      heldAgainstAnchor ? "yes" : "NO",
      checked,
    ]),
  };
}

/** Each condition's run: coverage and outcomes. */
export function sideTable({ sides }: ReportModel): Table {
  return {
    head: [
      "condition",
      "run",
      "order",
      "scored",
      "outcomes",
      "attempts superseded",
      "attempts cut off",
      "recorded start",
      "recorded end",
    ],
    rows: sides.map((side) => [
      side.side,
      side.runId,
      side.order,
      `${side.scored} of ${side.planned}`,
      Object.entries(side.outcomes)
        .filter(([, count]) => count > 0)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(", "),
      String(side.superseded),
      String(side.cutOff),
      side.startedAt,
      side.finishedAt,
    ]),
  };
}

/** One line per task and condition, so that no mean hides a task. */
export function taskTable({ tasks, study }: ReportModel): Table {
  return {
    head: [
      "task",
      "condition",
      "model",
      "scored",
      "solved",
      "mean reward (scored only)",
      "if missing were 0 to 1",
      "unscored",
    ],
    rows: tasks.flatMap((line) =>
      (["control", "treatment"] as const).flatMap((side) => {
        const facts = line[side];
        if (facts === null) return [];
        return [
          [
            line.task,
            side,
            study.modelSource,
            `${facts.scored} of ${facts.planned}`,
            `${facts.solved} of ${facts.scored}`,
            knownWords(facts.mean, score),
            boundsWords(facts),
            unscoredWords(facts),
          ],
        ];
      }),
    ),
  };
}

/** Tasks by their paired difference, greatest first; tasks without one last. */
export function byDifference(tasks: readonly TaskLine[]): readonly TaskLine[] {
  const value = ({ paired }: TaskLine): number =>
    paired === null || isUnknown(paired.difference) ? Number.NEGATIVE_INFINITY : paired.difference;
  return [...tasks].sort((a, b) => {
    const [first, second] = [value(a), value(b)];
    return first === second ? (a.task < b.task ? -1 : 1) : second - first;
  });
}

/** The paired result task by task. */
export function pairedTaskTable({ tasks, study }: ReportModel): Table {
  return {
    head: ["task", "model", "complete pairs", "control", "treatment", "difference in points", "outcome"],
    rows: byDifference(tasks).flatMap(({ task, paired }) =>
      paired === null
        ? []
        : [
            [
              task,
              study.modelSource,
              `${paired.complete} of ${paired.planned}`,
              shortKnown(paired.control, score),
              shortKnown(paired.treatment, score),
              shortKnown(paired.difference, points),
              paired.outcome,
            ],
          ],
    ),
  };
}

/** The primary result in figures. */
export function resultTable({ plannedPairs, completePairs, tasks, ...result }: PairedResult): Table {
  return {
    head: ["figure", "value"],
    rows: [
      ["complete pairs", `${completePairs} of ${plannedPairs}`],
      ["tasks with a complete pair", String(tasks)],
      ["control, mean over tasks", knownWords(result.control, score)],
      ["treatment, mean over tasks", knownWords(result.treatment, score)],
      ["difference in points", knownWords(result.difference, points)],
      [
        "interval of the difference in points",
        knownWords(
          result.interval,
          ({ low, high, level, method }) => `${points(low)} to ${points(high)} (${level * 100} %, ${method})`,
        ),
      ],
      ["sign-flip test", knownWords(result.test, ({ p, method }) => `p ${pValue(p)} (${method})`)],
      [
        "difference if every unscored trial had gone against, or for, the treatment",
        knownWords(result.worstCase, ({ low, high }) => `${points(low)} to ${points(high)}`),
      ],
    ],
  };
}

/** Secondary metrics: described with intervals, without a verdict. */
export function secondaryTable({ secondary }: PairedResult): Table {
  return {
    head: ["metric", "pairs with both known", "control", "treatment", "difference", "95 % interval", "adjusted p"],
    rows: secondary.map((line) => {
      const show = (value: number): string => amount(value, line.unit as Parameters<typeof amount>[1]);
      return [
        line.label,
        `${line.completePairs} of ${line.plannedPairs}`,
        shortKnown(line.control, show),
        shortKnown(line.treatment, show),
        shortKnown(line.difference, show),
        shortKnown(line.interval, ({ low, high }) => `${show(low)} to ${show(high)}`),
        shortKnown(line.adjustedP, pValue),
      ];
    }),
  };
}

const TRIAL_FIGURES = ["time.agent", "tokens.input", "tokens.output", "model.cost", "server.visibleBytes"] as const;

/** A line per trial. */
export function trialTable({ trials, study }: ReportModel): Table {
  return {
    head: [
      "no.",
      "task",
      "condition",
      "model",
      "reward",
      "outcome",
      "failed check",
      "agent ended",
      "submission",
      "server calls valid / invalid",
      ...TRIAL_FIGURES.map((name) => FIGURES[name].label),
    ],
    rows: rowsOf(trials, (trial) => [
      [
        trial.attempt > 1 ? `${trial.number} (attempt ${trial.attempt})` : String(trial.number),
        trialName(trial, study.repetitions),
        trial.side,
        trial.modelSource,
        trial.reward === null ? "unscored" : score(trial.reward),
        outcomeWords(trial),
        trial.failedCheck ?? "–",
        trial.agentEnd ?? "no agent ran",
        shortKnown(trial.submission),
        `${figureWords(trial, "server.valid")} / ${figureWords(trial, "server.invalid")}`,
        ...TRIAL_FIGURES.map((name) => figureWords(trial, name)),
      ],
    ]),
  };
}

/** A figure of a trial in words. */
export function figureWords({ figures }: TrialLine, name: FigureName): string {
  return shortKnown(figures[name], (value) => amount(value, FIGURES[name].unit));
}

/** What the runner noticed of a trial, and where the agent's own account differs from the gateway's record. */
export function noteTable({ trials, study }: ReportModel): Table {
  return {
    head: ["no.", "task", "condition", "model", "what"],
    rows: rowsOf(trials, (trial) => {
      const { account, observations } = trial;
      const told =
        account === null ? [] : isUnknown(account) ? [`the agent's account is ${knownWords(account)}`] : account;
      return [...observations, ...told].map((words) => [
        String(trial.number),
        trialName(trial, study.repetitions),
        trial.side,
        trial.modelSource,
        words,
      ]);
    }),
  };
}

/** What became of each attempt of the trials that had more than one. */
export function attemptTable({ attempts, study }: ReportModel): Table {
  return {
    head: ["no.", "task", "condition", "model", "attempt", "in the figures", "outcome", "why"],
    rows: attempts.map((line) => [
      String(line.number),
      trialName(line, study.repetitions),
      line.side,
      study.modelSource,
      String(line.attempt),
      line.state === "counts" ? "yes" : `no: ${line.state}`,
      line.outcome ?? "none was sealed",
      line.causeDetail ?? "–",
    ]),
  };
}

/** Why trials have no score. */
export function causeTable({ trials, study }: ReportModel): Table {
  return {
    head: ["no.", "task", "condition", "outcome", "cause"],
    rows: trials
      .filter(({ reward }) => reward === null)
      .map((trial) => [
        String(trial.number),
        trialName(trial, study.repetitions),
        trial.side,
        outcomeWords(trial),
        trial.causeDetail ?? "no cause is recorded",
      ]),
  };
}
