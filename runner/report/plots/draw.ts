import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { Table } from "../tables.ts";

/** A drawing that needs no script, with the words and the table that say the same. */
export interface Picture {
  readonly title: string;
  /** What to see, in one to three sentences; also the picture's text for those who cannot see it. */
  readonly caption: string;
  /** Colours and marks with their meaning. */
  readonly key: readonly KeyEntry[];
  /** On a wide page `full` takes its whole width and `half` shares a row. */
  readonly span: "full" | "half";
  /** Markup for wide and for narrow pages; empty where there is nothing to draw. */
  readonly wide: string;
  readonly narrow: string;
  /** The figures behind the drawing; null where a table of the page already has them. */
  readonly table: Table | null;
}

export interface KeyEntry {
  readonly label: string;
  /** A CSS colour. */
  readonly colour: string;
  readonly mark: "dot" | "ring" | "line" | "box" | "cross";
}

/** Widths in CSS pixels that pictures are drawn for. */
export const WIDTH = { full: 980, half: 460, narrow: 350 } as const;

export const SIDE_COLOUR = { control: "var(--control)", treatment: "var(--treatment)" } as const;
export const END_COLOUR = {
  solved: "var(--solved)",
  partial: "var(--partial)",
  failed: "var(--failed)",
  unscored: "var(--unscored)",
} as const;
export const ENDS = ["solved", "partial", "failed", "unscored"] as const;

/** Draws a plot as SVG markup on the server. */
export function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const style = { fontSize: "13px", background: "transparent", overflow: "visible" };
  return Plot.plot({ marginBottom: 40, ...options, style, document }).outerHTML;
}

/** Draws for wide and narrow pages. */
export function both(
  paint: (width: number, narrow: boolean) => string,
  span: Picture["span"] = "full",
): Pick<Picture, "span" | "wide" | "narrow"> {
  return { span, wide: paint(WIDTH[span], false), narrow: paint(WIDTH.narrow, true) };
}

/** A label that a plot has room for; tables carry it whole. */
export function shortLabel(label: string): string {
  return label.length > 40 ? `${label.slice(0, 39)}…` : label;
}

/** Room for labels on the left, by the longest of them. */
export function labelMargin(labels: readonly string[]): number {
  const longest = labels.reduce((most, { length }) => Math.max(most, Math.min(40, length)), 0);
  return 24 + longest * 7.2;
}
