import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import { FIGURES, type FigureName } from "../report/figures.ts";
import { type KnownSummary, summariseKnown } from "../stats/known-summary.ts";
import type { PlannedPair } from "../stats/pairs.ts";
import type { SecondaryMetric } from "../stats/secondary.ts";
import type { ComparedPair, MetricUnit, ServerLine } from "./comparison.ts";
import { READ_FIGURE } from "./trial-figures.ts";
import type { TrialRow } from "./trial-row.ts";

/** A figure of one trial, read from its derived row. */
export interface TrialMetric {
  readonly name: string;
  readonly label: string;
  readonly unit: MetricUnit;
  readonly read: (row: TrialRow) => Known<number>;
}

const METRICS = (Object.keys(FIGURES) as FigureName[]).map((name): TrialMetric => {
  const { label, unit } = FIGURES[name];
  return { name, label, unit, read: READ_FIGURE[name] };
});

const ofKind = (...kinds: readonly string[]): TrialMetric[] =>
  METRICS.filter(({ name }) => kinds.includes(name.split(".")[0] ?? ""));

/** Figures that both conditions have, and those of them that the agent has without a model. */
const BOTH = ofKind("time", "model", "tokens", "tools");
const MODELLESS = BOTH.filter(({ name }) => name === "time.total" || name === "time.agent");

/** Figures of the treatment's server. A control cannot have them, so a difference would only say that it is a control. */
export const SERVER_METRICS = ofKind("server");

/** The paired metrics beside the primary one: every other reward dimension that was seen, times, and the model's figures. */
export function pairedMetrics(rows: readonly TrialRow[], primaryKeys: ReadonlySet<string>): TrialMetric[] {
  const dimensions = new Set(rows.flatMap(({ rewards }) => Object.keys(rewards ?? {})));
  const rewards = [...dimensions]
    .filter((name) => !primaryKeys.has(name))
    .sort()
    .map(
      (name): TrialMetric => ({
        name: `reward.${name}`,
        label: `reward: ${name}`,
        unit: "score",
        read: (row) => {
          const value = row.rewards !== null && Object.hasOwn(row.rewards, name) ? row.rewards[name] : undefined;
          return value ?? unknown("missing", "the verifier did not give it");
        },
      }),
    );
  const driven = rows.some(({ metrics }) => metrics !== null);
  return [...rewards, ...(driven ? BOTH : MODELLESS)];
}

/** The value of a metric in a trial; an unscored trial's figures are of another work and enter nothing. */
export function figureOf(row: TrialRow, { read }: Pick<TrialMetric, "read">): Known<number> {
  return row.outcome === "scored" ? read(row) : unknown("unavailable", `the trial is ${row.outcome}`);
}

/** The pairs of one metric as the statistics take them. */
export function secondaryMetric(metric: TrialMetric, pairs: readonly ComparedPair[]): SecondaryMetric {
  const of = (values: ComparedPair["control"]["values"]): Known<number> => values[metric.name] ?? unknown("missing");
  const planned: PlannedPair[] = pairs.map(({ task, repetition, control, treatment }) => ({
    task,
    repetition,
    control: of(control.values),
    treatment: of(treatment.values),
  }));
  const known = planned.flatMap(({ control, treatment }) =>
    [control, treatment].filter((value): value is number => !isUnknown(value)),
  );
  const score = metric.unit === "score" && known.every((value) => value >= 0 && value <= 1);
  return { name: metric.name, scale: score ? "score" : "amount", pairs: planned };
}

/** A server metric over the scored treatment trials. */
export function serverLine({ name, label, unit, read }: TrialMetric, rows: readonly TrialRow[]): ServerLine {
  const summary: KnownSummary = summariseKnown(rows.filter(({ outcome }) => outcome === "scored").map(read));
  return { name, label, unit, ...summary };
}
