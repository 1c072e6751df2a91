import { isUnknown } from "../../base/unknown.ts";
import { escapeHtml } from "../markup.ts";
import type { ReportModel, Review } from "../model.ts";
import { differenceInterval } from "../plots/difference.ts";
import { distribution } from "../plots/distribution.ts";
import type { Picture } from "../plots/draw.ts";
import { dumbbell } from "../plots/dumbbell.ts";
import { mosaic } from "../plots/mosaic.ts";
import { outcomes } from "../plots/outcomes.ts";
import { TIMELINE_KEY, timelines } from "../plots/timeline.ts";
import { serverTable, serverTrialTable } from "../server-tables.ts";
import {
  attemptTable,
  causeTable,
  isEmpty,
  noteTable,
  pairedTaskTable,
  resultTable,
  secondaryTable,
  sideTable,
  sourceTable,
  taskTable,
  trialTable,
} from "../tables.ts";
import { ATTEMPTS, titleOf } from "../to-markdown.ts";
import { percent, points, score, serverWords, shortKnown, sourceBanner } from "../words.ts";
import { keyMarkup, listMarkup, pictureMarkup, tableMarkup } from "./parts.ts";
import { STYLE } from "./style.ts";

/** The report as one page that loads nothing and runs nothing: plots are drawn into it, and its policy forbids the rest. */
export function toHtml(model: ReportModel): string {
  const { study, paired } = model;
  const banner = sourceBanner(study.modelSource);
  const result = paired?.result ?? null;
  const causes = causeTable(model);
  const server = serverTrialTable(model);
  const notes = noteTable(model);
  const main = mainPictures(model);
  const drawn = timelines(model);
  const sections = [
    `<h1>${escapeHtml(titleOf(model))}</h1>`,
    `<p class="soft">${escapeHtml(`${study.evidenceClass} · ${study.order} order · ${study.repetitions} ${study.repetitions === 1 ? "repetition" : "repetitions"}${study.subset ? " · a subset of the study" : ""}`)}</p>`,
    '<p class="soft">Missing scores are not 0: means are over scored trials, and how many those are stands beside each.</p>',
    `<div class="note">${banner === null ? "" : `<p class="banner">${escapeHtml(banner)}</p>`}${listMarkup(model.cautions)}</div>`,
    `<ul class="big">${headlines(model).map(headline).join("")}</ul>`,
    ...(paired === null
      ? []
      : [`<section class="card"><h3>Why: ${escapeHtml(paired.verdict)}</h3>${listMarkup(paired.reasons)}</section>`]),
    ...(main.length === 0
      ? []
      : [heading("Pictures"), `<div class="pictures">${main.map(pictureMarkup).join("\n")}</div>`]),
    ...(result === null ? [] : [heading("What may be said"), listMarkup(result.interpretation)]),
    heading("How it counts"),
    listMarkup(model.rules),
    ...(result === null
      ? []
      : [
          heading("Primary result"),
          tableMarkup(resultTable(result), "Primary result"),
          heading("Paired result by task"),
          tableMarkup(pairedTaskTable(model), "Paired result by task"),
        ]),
    ...(model.tasks.length === 0 ? [] : [heading("Tasks"), tableMarkup(taskTable(model), "Tasks")]),
    ...(result === null || result.secondary.length === 0
      ? []
      : [
          heading("Secondary metrics"),
          '<p class="soft">Described, never a verdict.</p>',
          tableMarkup(secondaryTable(result), "Secondary metrics"),
        ]),
    ...(result === null || result.server.figures.length === 0
      ? []
      : [
          heading("The treatment's server"),
          `<p class="soft">${escapeHtml(serverWords(result.server))}</p>`,
          tableMarkup(serverTable(result.server), "The treatment's server"),
        ]),
    ...(drawn.length === 0
      ? []
      : [
          heading("What trials did"),
          `<p class="soft">${escapeHtml(`By the gateway's trace${banner === null ? "" : `; the model's words were ${study.modelSource}`}.${model.timelinesLeftOut === null ? "" : ` ${model.timelinesLeftOut}`}`)}</p>`,
          keyMarkup(TIMELINE_KEY),
          `<div class="pictures">${drawn.map(pictureMarkup).join("\n")}</div>`,
        ]),
    ...(model.trials.length === 0 ? [] : [heading("Trials"), tableMarkup(trialTable(model), "Trials")]),
    ...(isEmpty(server)
      ? []
      : [heading("Use of the server by trial"), tableMarkup(server, "Use of the server by trial")]),
    ...(isEmpty(notes) ? [] : [heading("What was noticed"), tableMarkup(notes, "What was noticed")]),
    ...(model.attempts.length === 0
      ? []
      : [
          heading("Attempts"),
          `<p class="soft">${escapeHtml(ATTEMPTS)}</p>`,
          tableMarkup(attemptTable(model), "Attempts"),
        ]),
    ...(isEmpty(causes) ? [] : [heading("Why trials have no score"), tableMarkup(causes, "Why trials have no score")]),
    ...(model.reviews.length === 0 ? [] : [heading("Operator's review"), ...model.reviews.map(reviewMarkup)]),
    heading("What this report rests on"),
    tableMarkup(sourceTable(model), "Documents"),
    tableMarkup(sideTable(model), "Conditions"),
    listMarkup(study.facts.map(([name, value]) => `${name}: ${value}`)),
    ...(result === null ? [] : [heading("Method"), listMarkup(result.method)]),
  ];
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escapeHtml(titleOf(model))}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${sections.filter((section) => section !== "").join("\n")}
</main>
</body>
</html>
`;
}

function mainPictures(model: ReportModel): Picture[] {
  const result = model.paired?.result ?? null;
  const drawn = [
    ...(result === null ? [outcomes(model)] : [differenceInterval(result), dumbbell(model), mosaic(result)]),
    distribution(model, "time.agent"),
    distribution(model, "tokens.input"),
    distribution(model, "tokens.output"),
    distribution(model, "server.visibleBytes"),
  ];
  return drawn.filter((picture) => picture !== null);
}

interface Headline {
  readonly name: string;
  readonly value: string;
  readonly under: string;
  readonly tone: string;
}

function headlines({ paired, sides, tasks, study }: ReportModel): Headline[] {
  const lines: Headline[] = [];
  const mark = study.modelSource === "live" ? "" : `${study.modelSource} · `;
  if (paired !== null) {
    lines.push({ name: "verdict", value: paired.verdict, under: `${mark}see why below`, tone: paired.verdict });
    if (paired.result !== null) {
      const { difference, interval, completePairs, plannedPairs } = paired.result;
      lines.push({
        name: "difference in points",
        value: shortKnown(difference, points),
        under: isUnknown(interval)
          ? "no interval: the data allow none"
          : `${percent(interval.level)} interval ${points(interval.low)} to ${points(interval.high)}`,
        tone: "",
      });
      lines.push({
        name: "complete pairs",
        value: `${completePairs} of ${plannedPairs}`,
        under: "a pair with an unscored side is in no mean",
        tone: "",
      });
    }
  }
  for (const { side, scored, planned } of sides) {
    const solved = tasks.reduce((sum, task) => sum + (task[side]?.solved ?? 0), 0);
    const means = tasks.flatMap((task) => {
      const mean = task[side]?.mean;
      return mean === undefined || isUnknown(mean) ? [] : [mean];
    });
    const mean = means.length === 0 ? null : means.reduce((sum, value) => sum + value, 0) / means.length;
    lines.push({
      name: `${side}, mean over tasks`,
      value: mean === null ? "unknown" : score(mean),
      under: `${mark}${scored} of ${planned} trials scored`,
      tone: "",
    });
    if (paired === null) {
      const none = planned - scored;
      lines.push({
        name: "solved",
        value: `${solved} of ${scored}`,
        under: `${mark}scored trials with reward 1`,
        tone: "",
      });
      lines.push({
        name: "without a score",
        value: `${none} of ${planned}`,
        under: "in no mean; causes below",
        tone: "",
      });
    }
  }
  return lines;
}

function headline({ name, value, under, tone }: Headline): string {
  return `<li class="card ${escapeHtml(tone)}">${escapeHtml(name)}<b>${escapeHtml(value)}</b><span class="soft">${escapeHtml(under)}</span></li>`;
}

function heading(words: string): string {
  return `<h2>${escapeHtml(words)}</h2>`;
}

function reviewMarkup({ about, note, writtenAt, signature }: Review): string {
  return `<section class="card"><p class="soft">Note on <code>${escapeHtml(about)}</code>, written ${escapeHtml(writtenAt)}, ${escapeHtml(signature)}. It changes no figure.</p><blockquote>${escapeHtml(note)}</blockquote></section>`;
}
