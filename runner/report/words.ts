import { isUnknown, type Known, type Unknown } from "../base/unknown.ts";
import type { FigureUnit } from "./figures.ts";
import type { PairEnd, ServerPart, TaskSide, TrialLine } from "./model.ts";

/** An unknown with its reason; never an empty cell, never 0. */
export function unknownWords(value: Unknown): string {
  return value.detail === undefined ? `unknown (${value.unknown})` : `unknown (${value.unknown}: ${value.detail})`;
}

/** A known value in words of `show`, an unknown with its reason. */
export function knownWords<T>(value: Known<T>, show: (value: T) => string = String): string {
  return isUnknown(value) ? unknownWords(value) : show(value);
}

/** An unknown in one word, for narrow cells; the reason in full stands in the JSON form. */
export function shortKnown<T>(value: Known<T>, show: (value: T) => string = String): string {
  return isUnknown(value) ? `unknown: ${value.unknown}` : show(value);
}

/** A score, or a mean of scores, with up to three decimals. */
export function score(value: number): string {
  return String(Number(value.toFixed(3)));
}

/** A difference of scores in points of 100, signed, one decimal. */
export function points(difference: number): string {
  const text = Math.abs(difference * 100).toFixed(1);
  return text === "0.0" ? "0.0" : `${difference < 0 ? "−" : "+"}${text}`;
}

/** A share as a percentage with at most one decimal. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(1))} %`;
}

/** A p-value without a false 0. */
export function pValue(p: number): string {
  return p < 0.0001 ? "< 0.0001" : p.toFixed(4);
}

const GROUPS = /\B(?=(\d{3})+(?!\d))/g;

/** A whole number with thin spaces between groups of three. */
export function whole(value: number): string {
  return Math.round(Math.abs(value))
    .toString()
    .replace(GROUPS, "\u202f")
    .replace(/^/, value < 0 ? "−" : "");
}

/** A value in a unit that people read: seconds, KiB, dollars. */
export function amount(value: number, unit: FigureUnit | "score"): string {
  switch (unit) {
    case "us":
      return `${(value / 1e6).toFixed(1)} s`.replace("-", "−");
    case "bytes":
      return Math.abs(value) < 10_000 ? `${whole(value)} B` : `${whole(value / 1024)} KiB`;
    case "microUSD":
      return `${(value / 1e6).toFixed(4)} USD`.replace("-", "−");
    case "score":
      return score(value);
    default:
      return Number.isInteger(value) || Math.abs(value) >= 100 ? whole(value) : value.toFixed(1).replace("-", "−");
  }
}

/** How a trial ended, for marks and mosaics. */
export function endOf({ reward }: Pick<TrialLine, "reward">): PairEnd {
  if (reward === null) return "unscored";
  return reward === 1 ? "solved" : reward === 0 ? "failed" : "partial";
}

/** Outcome with cause, where there is one. */
export function outcomeWords({ outcome, cause }: Pick<TrialLine, "outcome" | "cause">): string {
  return cause === null ? outcome : `${outcome} (${cause})`;
}

/** A task side's unscored trials in words; a dash when there are none. */
export function unscoredWords({ unscored }: TaskSide): string {
  const parts = Object.entries(unscored).map(([outcome, count]) => `${count} ${outcome}`);
  return parts.length === 0 ? "–" : parts.join(", ");
}

/** What the mean would be if the unscored trials had counted 0, or 1; a dash when nothing is missing. */
export function boundsWords(side: TaskSide): string {
  return side.scored === side.planned ? "–" : `${score(side.low)} to ${score(side.high)}`;
}

/** The words above every figure of a run whose model did not answer live; null for a live one. */
export function sourceBanner(modelSource: string): string | null {
  switch (modelSource) {
    case "scripted":
      return "SCRIPTED: a hand-written conversation stood in for the model. These outcomes show that the runner works; they are no model's achievement.";
    case "replayed":
      return "REPLAYED: a recorded conversation stood in for the model; nothing here was answered live.";
    case "none":
      return "NO MODEL: the agent of this study asks no model; these outcomes are no model's achievement.";
    default:
      return null;
  }
}

/** `task #repetition`, or the task alone where each is run once. */
export function trialName(trial: { readonly task: string; readonly repetition: number }, repetitions: number): string {
  return repetitions > 1 ? `${trial.task} #${trial.repetition}` : trial.task;
}

/** How the scored treatment trials used the server, counts of 0 left out. */
export function serverWords({ use }: ServerPart): string {
  const seen = use.filter(([, count]) => count > 0).map(([words, count]) => `${count} ${words}`);
  return `Scored trials of the treatment: ${seen.length === 0 ? "none" : seen.join(", ")}. A control has no server, so nothing here is paired.`;
}
