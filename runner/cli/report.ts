import { resolve } from "node:path";
import { collectGarbage } from "../base/collect-garbage.ts";
import { writeDurably } from "../base/durable.ts";
import { messageOf, RunnerError } from "../base/errors.ts";
import { requireOutsideBundles } from "../evidence/outside-bundle.ts";
import { readReview } from "../evidence/review.ts";
import type { ReportModel, Review } from "../report/model.ts";
import { type ReportFormat, renderReport } from "../report/render.ts";
import { makeReport } from "../study/report.ts";
import { ledgerAnchors } from "../study/report-ledger.ts";
import type { CommandIo, Run } from "./command.ts";
import { examineProgram } from "./examine-program.ts";
import type { OPTIONS } from "./options.ts";

export const run: Run<typeof OPTIONS.report> = async (options, [subject = ""], io) => {
  const path = resolve(io.cwd, subject);
  const given = {
    report: options.reportSha256,
    control: options.controlReportSha256,
    treatment: options.treatmentReportSha256,
  };
  const anchors =
    options.ledger === undefined ? given : await ledgerAnchors(path, given, resolve(io.cwd, options.ledger));
  const out =
    options.out === undefined ? null : await requireOutsideBundles(resolve(io.cwd, options.out), "the report");
  let model: ReportModel;
  try {
    model = await makeReport(
      { path, anchors, timelineTrials: trialNumbers(options.trial) },
      io.signal,
      examineProgram(io),
    );
  } catch (thrown) {
    if (!(thrown instanceof RunnerError) || thrown.code !== "REPORT_REFUSED") throw thrown;
    refuse(thrown, io);
    return 1;
  }
  const signers = options.allowedSigners === undefined ? null : resolve(io.cwd, options.allowedSigners);
  const reviews: Review[] = [];
  for (const file of options.review) reviews.push(await reviewOf(resolve(io.cwd, file), signers, model));
  // What the evidence was recomputed from is of no more use.
  collectGarbage();
  const text = renderReport({ ...model, reviews }, (options.format ?? "md") as ReportFormat);
  if (out === null) io.out(text);
  else {
    await writeDurably(out, text);
    io.say(`report ${out}`);
  }
  for (const { name, heldAgainstAnchor, sha256 } of model.sources)
    if (!heldAgainstAnchor) io.say(`${name} (${sha256}) was not held against an anchor; the report says so.`);
  return 0;
};

function refuse(thrown: RunnerError, io: CommandIo): void {
  const { reasons } = thrown.details ?? {};
  const lines = Array.isArray(reasons) ? reasons.map(String) : [messageOf(thrown)];
  for (const line of lines) io.say(`refused: ${line}`);
  io.say(`REFUSED: ${lines.length} ${lines.length === 1 ? "reason" : "reasons"}; nothing was reported`);
  if (thrown.hint !== undefined) io.say(`  ${thrown.hint}`);
}

async function reviewOf(path: string, allowedSigners: string | null, { sources }: ReportModel): Promise<Review> {
  const { reportSha256, note, writtenAt, signature } = await readReview(path, allowedSigners);
  if (sources.some(({ sha256 }) => sha256 === reportSha256)) return { about: reportSha256, note, writtenAt, signature };
  throw new RunnerError(
    "integrity",
    "REVIEW_OF_ANOTHER",
    `${path} is a note about ${reportSha256}, and this report is about ${sources.map(({ sha256 }) => sha256).join(" and ")}`,
    { hint: "Name a note that was written about this run." },
  );
}

function trialNumbers(given: readonly string[]): number[] {
  return given.map((text) => {
    const value = Number(text);
    if (/^[1-9][0-9]*$/.test(text) && Number.isSafeInteger(value)) return value;
    throw new RunnerError("usage", "USAGE", `expected --trial to be a trial's number, got ${JSON.stringify(text)}`);
  });
}
