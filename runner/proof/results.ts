import { join } from "node:path";
import { writeDurably } from "../base/durable.ts";
import type { Judged } from "./judged.ts";
import { pretty } from "./output-folder.ts";
import { FILES, type PreparedRun } from "./request.ts";
import { type Summary, summarize } from "./summary.ts";
import { type DrawSource, drawNow } from "./uncertainty.ts";

export type RunSummary = Summary & { readonly run_id: string };

/** Scores the sealed records and writes `summary.json`; a split of which a record is missing has no score. */
export async function writeSummary(
  run: PreparedRun,
  judged: ReadonlyMap<string, Judged>,
  drawn: DrawSource = drawNow,
): Promise<RunSummary> {
  const summary = summaryOf(run, [...judged.values()], drawn);
  await writeDurably(join(run.request.output, FILES.summary), pretty(summary));
  return summary;
}

/** The summary of sealed records. */
export function summaryOf(
  run: Pick<PreparedRun, "request" | "rows" | "manifest">,
  judged: readonly Judged[],
  drawn: DrawSource = drawNow,
): RunSummary {
  const { task, settings, analysis } = run.request;
  return { ...summarize(task, run.rows, judged, settings, analysis, drawn), run_id: run.manifest.run_id };
}
