import * as Plot from "@observablehq/plot";
import { isUnknown } from "../../base/unknown.ts";
import { FIGURES, type FigureName } from "../figures.ts";
import type { ReportModel, Side } from "../model.ts";
import { amount } from "../words.ts";
import { both, draw, type Picture, SIDE_COLOUR } from "./draw.ts";

interface Point {
  readonly side: Side;
  readonly value: number;
  readonly name: string;
}

/** Trials up to which each is drawn as a dot; more are drawn as a histogram. */
const DOTS = 240;
/** Equal values that a row of dots has room for. */
const STACK = 7;

/** Whether dots tell the trials apart, or would pile up beyond their row. */
function asDots(points: readonly Point[], top: number): boolean {
  if (points.length > DOTS) return false;
  const piles = new Map<string, number>();
  for (const { side, value } of points) {
    const pile = `${side} ${Math.round((value / top) * 40)}`;
    piles.set(pile, (piles.get(pile) ?? 0) + 1);
  }
  return Math.max(0, ...piles.values()) <= STACK;
}

/** A condition whose trials all have one value, or none: a word says it better than a pile of dots. */
interface Words {
  readonly side: Side;
  readonly value: number | null;
  readonly text: string;
}

/** One figure over all trials by condition; null when no trial has it known. */
export function distribution({ trials }: ReportModel, figure: FigureName): Picture | null {
  const { label, unit } = FIGURES[figure];
  const sides = (["control", "treatment"] as const).filter((side) => trials.some((trial) => trial.side === side));
  const scale = unit === "us" ? 1e6 : unit === "microUSD" ? 1e6 : 1;
  const all: Point[] = trials.flatMap((trial) => {
    const value = trial.figures[figure];
    if (isUnknown(value)) return [];
    const name = `${trial.task} #${trial.repetition}, ${trial.side}: ${amount(value, unit)}`;
    return [{ side: trial.side, value: value / scale, name }];
  });
  if (all.length === 0) return null;
  const lines = sides.map((side) => {
    const values = all.filter((point) => point.side === side).map(({ value }) => value);
    const unknown = trials.filter((trial) => trial.side === side).length - values.length;
    return { side, values: values.sort((a, b) => a - b), unknown };
  });
  const missing = lines.reduce((sum, { unknown }) => sum + unknown, 0);
  const words = lines.flatMap(({ side, values }): Words[] => {
    const [first] = values;
    if (first === undefined) return [{ side, value: null, text: "unknown for every trial" }];
    const alike = values.length > 1 && values.at(-1) === first;
    return alike ? [{ side, value: first, text: `all ${values.length}: ${amount(first * scale, unit)}` }] : [];
  });
  const points = all.filter(({ side }) => !words.some((word) => word.side === side));
  const top = all.reduce((most, { value }) => Math.max(most, value), 0) || 1;
  const dots = asDots(points, top);
  const axis = unit === "us" ? "seconds →" : unit === "microUSD" ? "US dollars →" : `${unit} →`;
  return {
    title: `${label.replace(/^./, (letter) => letter.toUpperCase())}, trial by trial`,
    caption: `${dots ? "A dot is one trial" : "A bar counts trials"}; the tick is the median.${missing > 0 ? ` Unknown for ${missing} of ${trials.length} trials, which are not drawn.` : ""}`,
    key: sides.map((side) => ({ label: side, colour: SIDE_COLOUR[side], mark: dots ? "dot" : "box" })),
    ...both((width) => paint({ points, words, sides, dots, top, label: axis, width }), "half"),
    table: {
      head: ["condition", "known", "unknown", "least", "median", "greatest"],
      rows: lines.map(({ side, values, unknown }) => {
        const show = (value: number | undefined): string =>
          value === undefined ? "unknown: no trial has it" : amount(value * scale, unit);
        return [
          side,
          String(values.length),
          String(unknown),
          show(values[0]),
          show(values.length === 0 ? undefined : median(values)),
          show(values.at(-1)),
        ];
      }),
    },
  };
}

function shortNumber(value: number): string {
  return value >= 1000 ? `${Number((value / 1000).toFixed(1))}k` : String(Number(value.toFixed(2)));
}

function median(sorted: readonly number[]): number {
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

interface Strips {
  readonly points: readonly Point[];
  readonly words: readonly Words[];
  readonly sides: readonly Side[];
  readonly dots: boolean;
  /** End of the axis. */
  readonly top: number;
  readonly label: string;
  readonly width: number;
}

function paint({ points, words, sides, dots, top, label, width }: Strips): string {
  const fill = ({ side }: Point | Words) => SIDE_COLOUR[side];
  const bins = { x: "value", fy: "side", fill, thresholds: 30 };
  const histogram: Plot.RectYOptions = Plot.binX({ y: "count" }, bins);
  return draw({
    width,
    height: 56 + sides.length * 78,
    marginLeft: 78,
    marginRight: 18,
    x: { label, grid: true, domain: [0, top * 1.04], ticks: 5, tickFormat: shortNumber },
    y: { axis: null },
    fy: { domain: [...sides], label: null, axis: "left" },
    facet: { marginLeft: 78 },
    marks: [
      dots
        ? Plot.dot(
            points,
            Plot.dodgeY("middle", { x: "value", fy: "side", r: 4.5, fill, fillOpacity: 0.85, title: "name" }),
          )
        : Plot.rectY(points, histogram),
      Plot.tickX(
        points,
        Plot.groupZ({ x: "median" }, { x: "value", fy: "side", stroke: "currentColor", strokeWidth: 2, inset: 12 }),
      ),
      Plot.dot(
        words.filter(({ value }) => value !== null),
        { x: "value", fy: "side", frameAnchor: "middle", r: 6, fill },
      ),
      ...(["start", "end"] as const).map((textAnchor) =>
        Plot.text(words, {
          filter: ({ value }: Words) => (textAnchor === "end") === (value ?? 0) > top / 2,
          x: ({ value }: Words) => value ?? 0,
          fy: "side",
          frameAnchor: "middle",
          textAnchor,
          dx: textAnchor === "end" ? -12 : 12,
          text: "text",
        }),
      ),
    ],
  });
}
