import type { ReportModel } from "./model.ts";
import { serverTable, serverTrialTable } from "./server-tables.ts";
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
  type Table,
  taskTable,
  trialTable,
} from "./tables.ts";
import { serverWords, sourceBanner } from "./words.ts";

/** The report as a Markdown page. */
export function toMarkdown(model: ReportModel): string {
  const { study, paired } = model;
  const banner = sourceBanner(study.modelSource);
  const result = paired?.result ?? null;
  const server = serverTrialTable(model);
  const notes = noteTable(model);
  const causes = causeTable(model);
  const parts: readonly (string | false)[] = [
    `# ${plain(titleOf(model))}`,
    banner !== null && `> **${plain(banner)}**`,
    bullets(model.cautions),
    "## What this report rests on",
    table(sourceTable(model)),
    bullets(study.facts.map(([name, value]) => `${name}: ${value}`)),
    "## How it counts",
    bullets(model.rules),
    paired !== null && `## Verdict: ${paired.verdict}`,
    paired !== null && bullets(paired.reasons),
    result !== null && table(resultTable(result)),
    result !== null && bullets(result.interpretation),
    result !== null && "## Paired result by task",
    result !== null && table(pairedTaskTable(model)),
    "## Conditions",
    table(sideTable(model)),
    model.tasks.length > 0 && "## Tasks",
    model.tasks.length > 0 && table(taskTable(model)),
    result !== null && "## Secondary metrics",
    result !== null && "Described, never a verdict.",
    result !== null && table(secondaryTable(result)),
    ...(result === null || result.server.figures.length === 0
      ? []
      : ["## The treatment's server", plain(serverWords(result.server)), table(serverTable(result.server))]),
    model.trials.length > 0 && "## Trials",
    model.trials.length > 0 && table(trialTable(model)),
    !isEmpty(server) && "## Use of the server by trial",
    !isEmpty(server) && table(server),
    !isEmpty(notes) && "## What was noticed",
    !isEmpty(notes) && table(notes),
    model.attempts.length > 0 && "## Attempts",
    model.attempts.length > 0 && ATTEMPTS,
    model.attempts.length > 0 && table(attemptTable(model)),
    !isEmpty(causes) && "## Why trials have no score",
    !isEmpty(causes) && table(causes),
    result !== null && "## Method",
    result !== null && bullets(result.method),
    model.reviews.length > 0 && "## Operator's review",
    ...model.reviews.flatMap((review) => [
      `Note on \`${review.about}\`, written ${plain(review.writtenAt)}, ${plain(review.signature)}. It changes no figure.`,
      review.note
        .split("\n")
        .map((line) => `> ${plain(line)}`)
        .join("\n"),
    ]),
  ];
  return `${parts.filter((part) => part !== false && part !== "").join("\n\n")}\n`;
}

/** What is said above the table of attempts. */
export const ATTEMPTS =
  "Trials that were attempted more than once. The last attempt counts, whatever it came to; a trial with a valid outcome is never attempted again.";

/** The report's title. */
export function titleOf({ subject, study, sides }: ReportModel): string {
  switch (subject) {
    case "run":
      return `${study.studyId}: ${sides[0]?.side ?? "run"}`;
    case "pair":
      return `${study.studyId}: control and treatment`;
    case "comparison":
      return `${study.studyId}: comparison`;
  }
}

function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${plain(line)}`).join("\n");
}

function table({ head, rows }: Table): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(plain).join(" | ")} |`;
  const lines = [line(head), `|${" --- |".repeat(head.length)}`];
  for (const row of rows) lines.push(line(row));
  return lines.join("\n");
}

/** Text that stays text: no markup, no link, no new line, no end of a cell. */
function plain(text: string): string {
  return text
    .toWellFormed()
    .replaceAll(/\s+/g, " ")
    .replaceAll(/[\\`*_[\]<>|~]/g, "\\$&")
    .replaceAll("&", "&amp;")
    .replaceAll("://", ":&#47;&#47;");
}
