import Table from "cli-table3";
import { isUnknown, type Known } from "../base/unknown.ts";
import { points } from "../stats/wording.ts";
import type { Comparison, MetricUnit, ValidComparison } from "./comparison.ts";

/** A comparison for people: verdict, what may be said, the per-task table and the other figures. */
export function comparisonText(comparison: Comparison): string {
  if (!comparison.valid) {
    const { reasons } = comparison;
    return [
      ...reasons.map((reason) => `refused: ${reason}`),
      `INVALID: ${reasons.length} ${reasons.length === 1 ? "reason" : "reasons"}; nothing was compared`,
      "",
    ].join("\n");
  }
  return [
    `verdict: ${comparison.verdict} (${comparison.reasons.join("; ")})`,
    `causalClaimAuthorized: false; evidence class: ${comparison.evidenceClass}; order: ${comparison.order}`,
    "",
    ...comparison.interpretation,
    "",
    taskTable(comparison),
    endings(comparison),
    secondaryTable(comparison),
    serverTable(comparison),
    ...comparison.method,
    "",
  ].join("\n");
}

function taskTable({ primary }: ValidComparison): string {
  const table = plain(["task", "pairs", "control", "treatment", "difference (points)", "outcome"]);
  for (const row of primary.analysis.tasks) {
    table.push([
      row.task,
      `${row.completePairs}/${row.plannedPairs}`,
      row.control === null ? "-" : short(row.control),
      row.treatment === null ? "-" : short(row.treatment),
      row.difference === null ? "-" : points(row.difference),
      row.outcome,
    ]);
  }
  return `${table.toString()}\n`;
}

function endings({ control, treatment, server }: ValidComparison): string {
  const table = plain(["trials", "control", "treatment"]);
  const rows: readonly (readonly [string, keyof typeof control.tally])[] = [
    ["planned", "planned"],
    ["solved (reward 1)", "solved"],
    ["partly solved", "partial"],
    ["not solved (reward 0)", "unsolved"],
    ["unscored: task or verifier", "taskOrVerifier"],
    ["unscored: condition", "condition"],
    ["unscored: provider", "provider"],
    ["unscored: infrastructure", "infrastructure"],
  ];
  for (const [label, key] of rows) table.push([label, String(control.tally[key]), String(treatment.tally[key])]);
  table.push(["server used", "-", String(server.use.used)]);
  table.push(["server attempted, no valid call", "-", String(server.use.attempted)]);
  table.push(["available_unused", "-", String(server.use.available_unused)]);
  return `${table.toString()}\n`;
}

function secondaryTable({ secondary }: ValidComparison): string {
  const p = secondary.multiplicity === "holm" ? "p (Holm)" : "p (not adjusted)";
  const table = plain(["secondary metric", "pairs", "control", "treatment", "difference", "interval", p]);
  for (const { label, unit, coverage, control, treatment, difference, interval, adjustedP } of secondary.metrics) {
    table.push([
      label,
      `${coverage.completePairs}/${coverage.plannedPairs}`,
      amount(control, unit),
      amount(treatment, unit),
      amount(difference, unit),
      isUnknown(interval) ? "unknown" : `${amount(interval.low, unit)} to ${amount(interval.high, unit)}`,
      isUnknown(adjustedP) ? "unknown" : adjustedP.toFixed(4),
    ]);
  }
  return `${table.toString()}\n`;
}

function serverTable({ server }: ValidComparison): string {
  if (server.metrics.length === 0) return "";
  const table = plain(["treatment's server", "known", "mean", "least", "greatest"]);
  for (const { label, unit, count, known, mean, min, max } of server.metrics) {
    table.push([label, `${known}/${count}`, amount(mean, unit), amount(min, unit), amount(max, unit)]);
  }
  return `${table.toString()}\n`;
}

function plain(head: readonly string[]): Table.Table {
  return new Table({ head: [...head], style: { head: [], border: [] } });
}

function amount(value: Known<number>, unit: MetricUnit): string {
  if (isUnknown(value)) return "unknown";
  switch (unit) {
    case "us":
      return `${(value / 1e6).toFixed(1)} s`;
    case "microUSD":
      return `${(value / 1e6).toFixed(4)} $`;
    case "bytes":
      return `${Math.round(value)} B`;
    default:
      return short(value);
  }
}

function short(value: number): string {
  return String(Number(value.toFixed(3)));
}
