import { isUnknown, type Known, unknown } from "../base/unknown.ts";
import type { PairEnd, Paired, PairedResult, SecondaryLine, TaskLine } from "../report/model.ts";
import { endOf } from "../report/words.ts";
import type { Comparison, ValidComparison } from "./comparison.ts";

/** The paired part of a report, from a comparison. */
export function pairedPart(comparison: Comparison): Paired {
  const { verdict, reasons } = comparison;
  return { verdict, reasons, result: comparison.valid ? resultOf(comparison) : null };
}

function resultOf(comparison: ValidComparison): PairedResult {
  const { analysis } = comparison.primary;
  const { interval, test, worstCase } = analysis;
  return {
    control: analysis.control,
    treatment: analysis.treatment,
    difference: analysis.difference,
    interval: isUnknown(interval)
      ? interval
      : { low: interval.low, high: interval.high, level: interval.level, method: interval.method },
    test: isUnknown(test) ? test : { p: test.p, method: test.method },
    worstCase: isUnknown(worstCase) ? worstCase : { low: worstCase.difference.low, high: worstCase.difference.high },
    plannedPairs: analysis.coverage.plannedPairs,
    completePairs: analysis.coverage.completePairs,
    tasks: analysis.coverage.completeTasks,
    interpretation: comparison.interpretation,
    method: comparison.method,
    pairs: pairEnds(comparison),
    secondary: comparison.secondary.metrics.map(
      (line): SecondaryLine => ({
        label: line.label,
        unit: line.unit,
        completePairs: line.coverage.completePairs,
        plannedPairs: line.coverage.plannedPairs,
        control: line.control,
        treatment: line.treatment,
        difference: line.difference,
        interval: isUnknown(line.interval) ? line.interval : { low: line.interval.low, high: line.interval.high },
        adjustedP: line.adjustedP,
      }),
    ),
    server: serverPart(comparison.server),
  };
}

function serverPart({ use, metrics }: ValidComparison["server"]): PairedResult["server"] {
  return {
    use: [
      ["used", use.used],
      ["attempted, no call valid", use.attempted],
      ["available and unused", use.available_unused],
      ["use unknown", use.unknown],
      ["own tools beside the server", use.fallback.beside],
      ["own tools instead of the server", use.fallback.instead],
      ["no own tools", use.fallback.none],
      ["own tools unknown", use.fallback.unknown],
    ],
    figures: metrics.map(({ label, unit, count, known, mean, min, max }) => ({
      ...{ label, unit, trials: count, known, mean, min, max },
    })),
  };
}

const ENDS: readonly PairEnd[] = ["solved", "partial", "failed", "unscored"];

function pairEnds({ pairs }: ValidComparison): PairedResult["pairs"] {
  const ends = pairs.map(({ control, treatment }) => ({ control: endOf(control), treatment: endOf(treatment) }));
  return ENDS.flatMap((control) =>
    ENDS.map((treatment) => ({
      control,
      treatment,
      count: ends.filter((pair) => pair.control === control && pair.treatment === treatment).length,
    })),
  ).filter(({ count }) => count > 0);
}

/** A task's paired figures; null when the comparison does not have them. */
export function pairedTask(comparison: Comparison, task: string): TaskLine["paired"] {
  if (!comparison.valid) return null;
  const row = comparison.primary.analysis.tasks.find((line) => line.task === task);
  if (row === undefined) return null;
  const known = (value: number | null): Known<number> => value ?? unknown("missing", "no pair is complete");
  return {
    planned: row.plannedPairs,
    complete: row.completePairs,
    control: known(row.control),
    treatment: known(row.treatment),
    difference: known(row.difference),
    outcome: row.outcome,
  };
}
