import * as Plot from "@observablehq/plot";
import { isUnknown } from "../../base/unknown.ts";
import type { PairedResult } from "../model.ts";
import { percent, points, unknownWords } from "../words.ts";
import { both, draw, type KeyEntry, type Picture } from "./draw.ts";

interface Bar {
  readonly name: string;
  readonly low: number;
  readonly high: number;
  readonly colour: string;
  readonly thick: number;
}

/** The difference with its interval, and the bounds that lost trials leave; null when no pair is complete. */
export function differenceInterval(result: PairedResult): Picture | null {
  const { difference, interval, worstCase } = result;
  if (isUnknown(difference)) return null;
  const bars: Bar[] = [];
  if (!isUnknown(interval)) {
    const name = `${percent(interval.level)} interval`;
    bars.push({ name, low: interval.low, high: interval.high, colour: "var(--accent)", thick: 7 });
  }
  const lost = result.plannedPairs - result.completePairs;
  if (lost > 0 && !isUnknown(worstCase)) {
    const { low, high } = worstCase;
    bars.push({ name: "lost trials, worst case", low, high, colour: "var(--unscored-ink)", thick: 3 });
  }
  const said = isUnknown(interval)
    ? `There is no interval: ${unknownWords(interval)}.`
    : `The ${percent(interval.level)} interval goes from ${points(interval.low)} to ${points(interval.high)}.`;
  const key: KeyEntry[] = [{ label: "difference", colour: "var(--accent)", mark: "dot" }];
  for (const { name, colour } of bars) key.push({ label: name, colour, mark: "line" });
  return {
    title: "Paired difference with its interval",
    caption: `Treatment minus control, ${points(difference)} points over ${result.tasks} ${result.tasks === 1 ? "task" : "tasks"}. ${said} Right of 0 the treatment does better.`,
    key,
    ...both((width, narrow) => paint(difference, bars, width, narrow)),
    table: null,
  };
}

function paint(difference: number, bars: readonly Bar[], width: number, narrow: boolean): string {
  const far = Math.max(Math.abs(difference), ...bars.flatMap(({ low, high }) => [Math.abs(low), Math.abs(high)]));
  const edge = Math.min(100, Math.max(10, Math.ceil((far * 115) / 10) * 10));
  const scaled = bars.map((bar) => ({ ...bar, low: bar.low * 100, high: bar.high * 100 }));
  const rows = scaled.length === 0 ? ["difference"] : scaled.map(({ name }) => name);
  const first = rows[0] ?? "difference";
  return draw({
    width,
    height: 84 + rows.length * 56,
    marginTop: 26,
    marginLeft: 14,
    marginRight: 14,
    x: {
      domain: [-edge, edge],
      grid: true,
      label: "difference in points →",
      ticks: narrow ? 5 : 9,
      tickFormat: (value: number) => (value > 0 ? `+${value}` : String(value).replace("-", "−")),
      inset: 16,
    },
    y: { domain: rows, axis: null },
    marks: [
      Plot.ruleX([0], { stroke: "currentColor", strokeWidth: 1.5 }),
      Plot.text(["← treatment worse"], { frameAnchor: "top-left", dy: -18, fill: "var(--worse)" }),
      Plot.text(["treatment better →"], { frameAnchor: "top-right", dy: -18, fill: "var(--better)" }),
      Plot.ruleY(scaled, {
        y: "name",
        x1: "low",
        x2: "high",
        stroke: "colour",
        strokeWidth: "thick",
        strokeLinecap: "round",
        strokeOpacity: 0.6,
      }),
      Plot.text(scaled, { y: "name", x: "low", text: ({ low }: Bar) => points(low / 100), dy: 18 }),
      Plot.text(
        scaled.filter(({ low, high }) => high - low > edge / 6),
        { y: "name", x: "high", text: ({ high }: Bar) => points(high / 100), dy: 18 },
      ),
      Plot.dot([difference * 100], {
        x: (value: number) => value,
        y: () => first,
        r: 8,
        fill: "var(--accent)",
        stroke: "var(--card)",
        strokeWidth: 2,
      }),
      Plot.text([difference * 100], {
        x: (value: number) => value,
        y: () => first,
        dy: -20,
        fontWeight: 700,
        fontSize: 15,
        text: (value: number) => points(value / 100),
      }),
    ],
  });
}
