import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeDurably } from "../base/durable.ts";
import { callRows } from "./call-rows.ts";
import { toCsv } from "./export-csv.ts";
import { toMarkdown } from "./export-markdown.ts";
import type { Judged } from "./judged.ts";
import { pretty } from "./output-folder.ts";
import { proofRows } from "./proof-rows.ts";
import { type ExportForm, FILES, type PreparedRun } from "./request.ts";
import type { RunSummary } from "./results.ts";
import { scoreRows } from "./score-rows.ts";
import type { RoleTally } from "./tally.ts";
import type { Role } from "./terms.ts";

/** What the exports are made of. */
export interface ExportInput {
  readonly run: Pick<PreparedRun, "manifest" | "modelSource" | "rows">;
  readonly summary: RunSummary;
  readonly calls: Partial<Record<Role, RoleTally>>;
  readonly judged: readonly Judged[];
  readonly cautions: readonly string[];
}

/** For each form, a file that it always has. */
const SIGNS: Readonly<Record<ExportForm, string>> = {
  json: "scores.json",
  jsonl: "scores.jsonl",
  csv: "scores.csv",
  xlsx: "results.xlsx",
  markdown: "report.md",
  html: "report.html",
};

/** Those of the forms that are among the files of a bundle. */
export function formsAmong(paths: readonly string[], forms: readonly ExportForm[]): ExportForm[] {
  return forms.filter((form) => paths.includes(`${FILES.exports}/${SIGNS[form]}`));
}

type Maker = (input: ExportInput) => Promise<Readonly<Record<string, string | Uint8Array>>>;

/** Files of each form; names are relative to the exports folder. */
const MAKERS: Readonly<Record<ExportForm, Maker>> = {
  json: async ({ summary, calls, cautions }) => ({
    "scores.json": pretty({ run_id: summary.run_id, cautions, scores: scoreRows(summary), calls }),
  }),
  jsonl: async ({ summary }) => ({
    "scores.jsonl": scoreRows(summary)
      .map((row) => `${JSON.stringify(row)}\n`)
      .join(""),
  }),
  csv: async ({ summary, judged }) => ({
    "scores.csv": toCsv(scoreRows(summary)),
    "proofs.csv": toCsv(proofRows(judged)),
  }),
  xlsx: async ({ summary, judged, calls, cautions }) => ({
    "results.xlsx": await (await LIBRARIES.xlsx()).toXlsx([
      { name: "Read first", rows: cautions.map((caution) => ({ caution })) },
      { name: "Scores", rows: scoreRows(summary) },
      { name: "Proofs", rows: proofRows(judged) },
      { name: "Calls", rows: callRows(calls) },
    ]),
  }),
  markdown: async (input) => ({ "report.md": toMarkdown(input) }),
  html: async (input) => ({ "report.html": (await LIBRARIES.html()).toHtml(input) }),
};

/** Exports that bring large libraries along, which a run without them need not load. */
const LIBRARIES = { html: () => import("./export-html.ts"), xlsx: () => import("./export-xlsx.ts") } as const;

/** Loads what the given forms need. */
export async function loadExporters(forms: readonly ExportForm[]): Promise<void> {
  for (const form of ["html", "xlsx"] as const) if (forms.includes(form)) await LIBRARIES[form]();
}

/** The files of the given forms. */
export async function makeExports(
  forms: readonly ExportForm[],
  input: ExportInput,
): Promise<Map<string, string | Uint8Array>> {
  const files = new Map<string, string | Uint8Array>();
  for (const form of forms) {
    for (const [name, content] of Object.entries(await MAKERS[form](input))) files.set(name, content);
  }
  return files;
}

/** Writes the exports into `output`, and gives their names. */
export async function writeExports(
  output: string,
  forms: readonly ExportForm[],
  input: ExportInput,
): Promise<string[]> {
  const folder = join(output, FILES.exports);
  // A run that was stopped while it exported may have left files of another choice of forms.
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  const files = await makeExports(forms, input);
  await Promise.all([...files].map(([name, content]) => writeDurably(join(folder, name), content)));
  return [...files.keys()].sort();
}
