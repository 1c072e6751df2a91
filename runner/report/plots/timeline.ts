import * as Plot from "@observablehq/plot";
import { isUnknown } from "../../base/unknown.ts";
import type { ReportModel, Side, Span, Timeline } from "../model.ts";
import { trialName, unknownWords } from "../words.ts";
import { both, draw, labelMargin, type Picture, shortLabel } from "./draw.ts";

interface Bar extends Span {
  readonly side: Side;
  readonly row: string;
  readonly from: number;
  readonly to: number;
}

const LANE_COLOUR = { model: "var(--lane-model)", tool: "var(--lane-tool)", own: "var(--lane-own)" } as const;

/** What the trials of one task and repetition did, both conditions over the same time axis. */
export function timelines({ timelines: all, study }: ReportModel): Picture[] {
  const groups = new Map<string, Timeline[]>();
  for (const timeline of all) {
    const key = `${timeline.task}\n${timeline.repetition}`;
    groups.set(key, [...(groups.get(key) ?? []), timeline]);
  }
  return [...groups.values()].map((group) => picture(group, study.repetitions));
}

function picture(group: readonly Timeline[], repetitions: number): Picture {
  const bars = group.flatMap((timeline) =>
    isUnknown(timeline.spans) ? [] : timeline.spans.map((span) => toBar(span, timeline.side)),
  );
  const [first] = group;
  const problems = bars.filter(({ ok }) => !ok).length;
  const words = group.map(({ side, spans }) =>
    isUnknown(spans)
      ? `${side}: ${unknownWords(spans)}.`
      : `${side}: ${spans.filter(({ lane }) => lane === "model").length} model requests, ${spans.filter(({ lane }) => lane === "tool").length} server tool calls.`,
  );
  const sides = group.filter(({ spans }) => !isUnknown(spans)).map(({ side }) => side);
  return {
    title: first === undefined ? "Timeline" : trialName(first, repetitions),
    caption: `${words.join(" ")}${problems > 0 ? ` ${problems} marked × went wrong.` : ""}`,
    key: [],
    ...(bars.length === 0
      ? { span: "full" as const, wide: "", narrow: "" }
      : both((width, narrow) => paint(bars, sides, width, narrow))),
    table: {
      head: ["condition", "at second", "lasting", "what", "ended"],
      rows: bars.map(({ side, row, startMicros, endMicros, ok, problem }) => [
        side,
        (startMicros / 1e6).toFixed(3),
        `${((endMicros - startMicros) / 1000).toFixed(1)} ms`,
        row,
        ok ? "well" : (problem ?? "badly"),
      ]),
    },
  };
}

/** Lines of the timelines' shared key. */
export const TIMELINE_KEY: Picture["key"] = [
  { label: "request to the model", colour: LANE_COLOUR.model, mark: "box" },
  { label: "call of the server's tool", colour: LANE_COLOUR.tool, mark: "box" },
  { label: "own tools: from the answer that calls them to the next request", colour: LANE_COLOUR.own, mark: "box" },
  { label: "went wrong", colour: "var(--worse)", mark: "cross" },
];

function toBar(span: Span, side: Side): Bar {
  const row = span.lane === "model" ? "model" : span.label;
  return { ...span, side, row, from: span.startMicros / 1e6, to: span.endMicros / 1e6 };
}

function paint(bars: readonly Bar[], sides: readonly Side[], width: number, narrow: boolean): string {
  const end = bars.reduce((most, { to }) => Math.max(most, to), 0);
  // A call of milliseconds in a trial of minutes still has to be seen.
  const least = end / (narrow ? 110 : 260);
  const lanes = ["tool", "own"] as const;
  const rows = [
    "model",
    ...lanes.flatMap((lane) => [...new Set(bars.filter((bar) => bar.lane === lane).map(({ row }) => row))].sort()),
  ];
  return draw({
    width,
    height: 58 + sides.length * (rows.length * 24 + 18),
    marginTop: 10,
    marginLeft: Math.min(narrow ? 130 : 320, labelMargin(rows)),
    marginRight: narrow ? 22 : 84,
    x: {
      label: "seconds since the agent started →",
      grid: true,
      domain: [0, end === 0 ? 1 : end * 1.02],
      ticks: narrow ? 4 : 10,
    },
    y: { domain: rows, label: null, tickSize: 0, tickFormat: shortLabel, padding: 0.3 },
    fy: { domain: [...sides], label: null, padding: 0.12, ...(narrow ? { axis: null } : {}) },
    marks: [
      Plot.frame({ stroke: "var(--line)", rx: 4 }),
      Plot.barX(bars, {
        fy: "side",
        y: "row",
        x1: "from",
        x2: ({ from, to }: Bar) => Math.max(to, from + least),
        r: 2,
        fill: ({ lane }: Bar) => LANE_COLOUR[lane],
        stroke: ({ ok }: Bar) => (ok ? "none" : "var(--worse)"),
        strokeWidth: 2,
        title: ({ row, startMicros, endMicros, problem }: Bar) =>
          `${row}, ${((endMicros - startMicros) / 1000).toFixed(1)} ms at ${(startMicros / 1e6).toFixed(2)} s${problem === null ? "" : `: ${problem}`}`,
      }),
      Plot.text(
        bars.filter(({ ok }) => !ok),
        {
          fy: "side",
          y: "row",
          x: ({ from, to }: Bar) => Math.max(to, from + least),
          dx: 9,
          text: () => "×",
          fontSize: 17,
          fontWeight: 700,
          fill: "var(--worse)",
        },
      ),
      ...(narrow
        ? [
            Plot.text(sides, {
              fy: (side: Side) => side,
              frameAnchor: "top-right",
              dx: -4,
              dy: 4,
              text: (side: Side) => side,
              fill: "var(--soft)",
            }),
          ]
        : []),
    ],
  });
}
