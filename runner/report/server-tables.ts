import { isUnknown } from "../base/unknown.ts";
import { FIGURE_NAMES, FIGURES, type FigureName } from "./figures.ts";
import type { ReportModel, ServerPart, TrialLine } from "./model.ts";
import { figureWords, rowsOf, type Table } from "./tables.ts";
import { amount, shortKnown, trialName } from "./words.ts";

/** What each trial that was to have the server made of it. */
export function serverTrialTable({ trials, study }: ReportModel): Table {
  const faults = FIGURE_NAMES.filter((name) => name.startsWith("server.faults."));
  const faultWords = (trial: TrialLine): string => {
    const seen = faults.filter((name) => trial.figures[name] !== 0);
    return seen.length === 0
      ? "–"
      : seen.map((name) => `${figureWords(trial, name)} ${FIGURES[name].label.slice(9)}`).join(", ");
  };
  return {
    head: [
      "no.",
      "task",
      "model",
      "use",
      "own tools",
      "found → run → completed",
      "checks (independent)",
      "calls valid / invalid / refused",
      "invalid by kind",
      "irrelevant",
      "repeated calls / errors",
      "written, not sent",
      "tool time",
      "bytes on the wire",
    ],
    rows: rowsOf(trials, (trial) => {
      const { serverUse, side } = trial;
      if (serverUse === null || side === "control") return [];
      return [
        [
          String(trial.number),
          trialName(trial, study.repetitions),
          trial.modelSource,
          shortKnown(serverUse.use),
          shortKnown(serverUse.fallback),
          ["server.discovered", "server.run", "server.completed"]
            .map((name) => figureWords(trial, name as FigureName))
            .join(" → "),
          `${figureWords(trial, "server.checks")} (${figureWords(trial, "server.independentChecks")})`,
          `${figureWords(trial, "server.valid")} / ${figureWords(trial, "server.invalid")} / ${figureWords(trial, "server.refused")}`,
          isUnknown(trial.figures["server.invalid"]) ? figureWords(trial, "server.invalid") : faultWords(trial),
          figureWords(trial, "server.irrelevantCalls"),
          `${figureWords(trial, "server.repeatedCalls")} / ${figureWords(trial, "server.repeatedErrors")}`,
          figureWords(trial, "server.callsNotSent"),
          figureWords(trial, "server.toolMicros"),
          figureWords(trial, "server.wireBytes"),
        ],
      ];
    }),
  };
}

/** Figures of the server over the scored treatment trials. */
export function serverTable({ figures }: ServerPart): Table {
  return {
    head: ["figure", "trials with it known", "mean", "least", "greatest"],
    rows: figures.map(({ label, unit, trials, known, mean, min, max }) => {
      const show = (value: number): string => amount(value, unit as Parameters<typeof amount>[1]);
      return [label, `${known} of ${trials}`, ...[mean, min, max].map((value) => shortKnown(value, show))];
    }),
  };
}
