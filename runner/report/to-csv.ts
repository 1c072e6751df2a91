import { isUnknown, type Known } from "../base/unknown.ts";
import { FIGURE_NAMES, FIGURES } from "./figures.ts";
import type { ReportModel, Source, TrialLine } from "./model.ts";

/**
 * One line per trial (RFC 4180). A cell without a value says `unknown:<reason>`, never 0 and never nothing; numbers are in base units, named by
 * their column. Each line carries where the model's words came from, whether the score enters a mean, and what the evidence was held against.
 */
export function toCsv(model: ReportModel): string {
  const dimensions = [...new Set(model.trials.flatMap(({ rewards }) => Object.keys(rewards ?? {})))]
    .filter((name) => name !== "reward")
    .sort();
  const head = [
    "study",
    "evidence_class",
    "model_source",
    "source_sha256",
    "held_against_anchor",
    "trial",
    "attempt",
    "task",
    "condition",
    "repetition",
    "outcome",
    "cause",
    "failed_check",
    "agent_end",
    "submission",
    "reward",
    "enters_means",
    ...dimensions.map((name) => `reward_${name}`),
    ...FIGURE_NAMES.map((name) => FIGURES[name].column),
    "server_use",
    "fallback",
    "account_differences",
    "observations",
  ];
  const lines = model.trials.map((trial) => {
    const source = sourceOf(model, trial);
    return [
      model.study.studyId,
      model.study.evidenceClass,
      trial.modelSource,
      source?.sha256 ?? "unknown:missing",
      source?.heldAgainstAnchor === true ? "yes" : "no",
      trial.number,
      trial.attempt,
      trial.task,
      trial.side,
      trial.repetition,
      trial.outcome,
      trial.cause ?? "none",
      trial.failedCheck ?? "none",
      trial.agentEnd ?? "no-agent",
      cellOf(trial.submission),
      trial.reward ?? "unknown:missing",
      trial.reward === null ? "no" : "yes",
      ...dimensions.map((name) => trial.rewards?.[name] ?? "unknown:missing"),
      ...FIGURE_NAMES.map((name) => cellOf(trial.figures[name])),
      cellOf(trial.serverUse?.use ?? "no-model"),
      cellOf(trial.serverUse?.fallback ?? "no-model"),
      cellOf(trial.account === null ? "no-model" : isUnknown(trial.account) ? trial.account : listed(trial.account)),
      listed(trial.observations),
    ];
  });
  return [head, ...lines].map((cells) => `${cells.map(quote).join(",")}\r\n`).join("");
}

/** The document a trial was read from: its condition's report, or the one file there is. */
export function sourceOf({ sources }: ReportModel, { side }: Pick<TrialLine, "side">): Source | undefined {
  return sources.find(({ name }) => name === side) ?? sources[0];
}

function listed(sentences: readonly string[]): string {
  return sentences.length === 0 ? "none" : sentences.join("; ");
}

function cellOf(value: Known<string | number>): string | number {
  return isUnknown(value) ? `unknown:${value.unknown}` : value;
}

function quote(cell: string | number): string {
  if (typeof cell === "number") return String(cell);
  // A spreadsheet runs a cell that starts so as a formula; the quote makes it text.
  const text = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
