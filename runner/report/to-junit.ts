import { isUnknown } from "../base/unknown.ts";
import { escapeXml } from "./markup.ts";
import type { ReportModel, SideFacts, TrialLine } from "./model.ts";
import { sourceOf } from "./to-csv.ts";
import { score, sourceBanner, trialName } from "./words.ts";

/**
 * JUnit XML: a suite per condition, a test case per trial. Reward 1 passes; a lesser one is a failure; a trial without a score is an error,
 * never a pass and never left out.
 */
export function toJunit(model: ReportModel): string {
  const suites = model.sides.map((side) => suite(model, side));
  const count = (read: (trial: TrialLine) => boolean): number => model.trials.filter(read).length;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="${escapeXml(model.study.studyId)}" tests="${model.trials.length}" failures="${count(failed)}" errors="${count(unscored)}">`,
    ...suites,
    "</testsuites>",
    "",
  ].join("\n");
}

function suite(model: ReportModel, side: SideFacts): string {
  const trials = model.trials.filter((trial) => trial.side === side.side);
  const source = sourceOf(model, side);
  const properties: [string, string][] = [
    ["evidenceClass", model.study.evidenceClass],
    ["modelSource", model.study.modelSource],
    ["runId", side.runId],
    ["sourceSha256", source?.sha256 ?? "unknown: missing"],
    ["heldAgainstAnchor", source?.heldAgainstAnchor === true ? "yes" : "no"],
    ...model.cautions.map((caution): [string, string] => ["caution", caution]),
    ...model.rules.map((rule): [string, string] => ["rule", rule]),
  ];
  return [
    `  <testsuite name="${escapeXml(side.side)}" tests="${trials.length}" failures="${trials.filter(failed).length}" errors="${trials.filter(unscored).length}" skipped="0" timestamp="${escapeXml(side.startedAt)}">`,
    "    <properties>",
    ...properties.map(([name, value]) => `      <property name="${escapeXml(name)}" value="${escapeXml(value)}"/>`),
    "    </properties>",
    ...trials.map((trial) => testCase(model, trial)),
    "  </testsuite>",
  ].join("\n");
}

function testCase({ study }: ReportModel, trial: TrialLine): string {
  const totalMicros = trial.figures["time.total"];
  const time = isUnknown(totalMicros) ? "" : ` time="${(totalMicros / 1e6).toFixed(6)}"`;
  const open = `    <testcase classname="${escapeXml(`${study.studyId}.${trial.side}`)}" name="${escapeXml(trialName(trial, study.repetitions))}"${time}`;
  const banner = sourceBanner(trial.modelSource);
  const note = banner === null ? [] : [`      <system-out>${escapeXml(banner)}</system-out>`];
  const verdict = verdictOf(trial);
  if (verdict === null && note.length === 0) return `${open}/>`;
  return [`${open}>`, ...(verdict === null ? [] : [verdict]), ...note, "    </testcase>"].join("\n");
}

function verdictOf(trial: TrialLine): string | null {
  if (trial.reward === 1) return null;
  if (trial.reward !== null) {
    const check = trial.failedCheck === null ? "" : `, first failed check ${trial.failedCheck}`;
    return `      <failure type="reward" message="${escapeXml(`reward ${score(trial.reward)}${check}`)}"/>`;
  }
  const cause = trial.causeDetail === null ? "" : `: ${trial.causeDetail}`;
  return `      <error type="${escapeXml(trial.outcome)}" message="${escapeXml(`no score, ${trial.cause ?? trial.outcome}${cause}`)}"/>`;
}

function failed({ reward }: TrialLine): boolean {
  return reward !== null && reward < 1;
}

function unscored({ reward }: TrialLine): boolean {
  return reward === null;
}
