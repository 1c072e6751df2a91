import { canonicalText } from "../base/canonical-json.ts";
import { toHtml } from "./html/page.ts";
import type { ReportModel } from "./model.ts";
import { toCsv } from "./to-csv.ts";
import { toJunit } from "./to-junit.ts";
import { toMarkdown } from "./to-markdown.ts";

export const REPORT_FORMATS = ["md", "json", "junit", "csv", "html"] as const;
export type ReportFormat = (typeof REPORT_FORMATS)[number];

/** The report in one format: a function of the model alone, so that equal evidence gives equal bytes. */
export function renderReport(model: ReportModel, format: ReportFormat): string {
  switch (format) {
    case "md":
      return toMarkdown(model);
    case "json":
      return `${canonicalText(model)}\n`;
    case "junit":
      return toJunit(model);
    case "csv":
      return toCsv(model);
    case "html":
      return toHtml(model);
  }
}
