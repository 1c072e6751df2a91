import { createWriteStream } from "node:fs";
import { readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { writeDurably } from "../base/durable.ts";
import type { Judged } from "./judged.ts";
import { pretty } from "./output-folder.ts";
import { FILES, type PreparedRun, recordPath } from "./request.ts";
import { type Summary, summarize } from "./summary.ts";

export type RunSummary = Summary & { readonly run_id: string };

/** Scores the sealed records and writes `summary.json`; a split of which a record is missing has no score. */
export async function writeSummary(run: PreparedRun, judged: ReadonlyMap<string, Judged>): Promise<RunSummary> {
  const summary = summaryOf(run, [...judged.values()]);
  await writeDurably(join(run.request.output, FILES.summary), pretty(summary));
  return summary;
}

/** The summary of sealed records. */
export function summaryOf(
  run: Pick<PreparedRun, "request" | "rows" | "manifest">,
  judged: readonly Judged[],
): RunSummary {
  const { task, settings, analysis } = run.request;
  return { ...summarize(task, run.rows, judged, settings, analysis), run_id: run.manifest.run_id };
}

/** Joins the sealed records into `results.jsonl`, in the order of the data, one compact line each. */
export async function writeResults(run: PreparedRun, judged: ReadonlyMap<string, Judged>): Promise<void> {
  const { output } = run.request;
  const temporary = join(output, `.${FILES.results}.tmp`);
  const keys = run.units.map(({ key }) => key).filter((key) => judged.has(key));
  await pipeline(resultLines(output, keys), createWriteStream(temporary, { flush: true }));
  await rename(temporary, join(output, FILES.results));
}

/** The lines of `results.jsonl`, records read one at a time. */
export async function* resultLines(output: string, keys: Iterable<string>): AsyncGenerator<string> {
  for (const key of keys) yield `${JSON.stringify(JSON.parse(await readFile(recordPath(output, key), "utf8")))}\n`;
}
