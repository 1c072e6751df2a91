import * as Plot from "@observablehq/plot";
import { parseHTML } from "linkedom";
import type { ScoreRow } from "./score-rows.ts";

/** Colours of series; the page gives them their values in light and dark. */
export const COLOURS = ["var(--series-1)", "var(--series-2)", "var(--series-3)", "var(--series-4)", "var(--series-5)"];
/** A scale of rates. */
export const UNIT: Plot.ScaleOptions = { domain: [0, 1], grid: true };

/** Lines with dots and, where there are intervals, bands: one series a name. */
export function lines(
  data: readonly object[],
  x: string,
  xLabel: string,
  series: string,
  names: readonly string[],
  yLabel: string,
): string {
  const values = [...new Set(data.map((row) => Reflect.get(row, x) as number))].sort((a, b) => a - b);
  return draw({
    height: 320,
    x: { label: `${xLabel} →`, ticks: values, tickFormat: "d", inset: 12 },
    y: { ...UNIT, label: yLabel },
    color: legend(names),
    marks: [
      Plot.areaY(data, {
        filter: hasInterval,
        x,
        y1: "percentile_low",
        y2: "percentile_high",
        fill: series,
        z: series,
        fillOpacity: 0.14,
      }),
      Plot.line(data, { x, y: "value", stroke: series, z: series, strokeWidth: 2 }),
      Plot.dot(data, { x, y: "value", fill: series, r: 3.5 }),
    ],
  });
}

/** A colour scale with its key. */
export function legend(domain: readonly string[]): Plot.ScaleOptions {
  return { type: "ordinal", domain: [...domain], range: COLOURS.slice(0, Math.max(1, domain.length)), legend: true };
}

/** Tells rows that have an interval. */
export function hasInterval(row: unknown): boolean {
  return typeof row === "object" && row !== null && typeof Reflect.get(row, "percentile_low") === "number";
}

/** Tells rows that have a score. */
export function hasValue(row: ScoreRow): boolean {
  return row.value !== null;
}

/** Draws a plot as markup that needs no script. */
export function draw(options: Plot.PlotOptions): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>");
  const style = { fontSize: "13px", background: "transparent", overflow: "visible" };
  return Plot.plot({ width: 560, marginBottom: 44, ...options, style, document }).outerHTML;
}
