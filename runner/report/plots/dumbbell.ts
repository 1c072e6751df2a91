import * as Plot from "@observablehq/plot";
import { isUnknown } from "../../base/unknown.ts";
import type { ReportModel } from "../model.ts";
import { byDifference } from "../tables.ts";
import { points, score } from "../words.ts";
import { both, draw, labelMargin, type Picture, SIDE_COLOUR, shortLabel } from "./draw.ts";

interface Bell {
  readonly task: string;
  readonly control: number;
  readonly treatment: number;
  readonly difference: number;
}

/** Tasks that one picture can hold; with more, those that differ most are drawn. */
const MOST = 80;

/** Control and treatment of every task, joined; null without a paired task. */
export function dumbbell({ tasks }: ReportModel): Picture | null {
  const bells = byDifference(tasks).flatMap(({ task, paired }): Bell[] => {
    if (paired === null) return [];
    const { control, treatment, difference } = paired;
    return isUnknown(control) || isUnknown(treatment) || isUnknown(difference)
      ? []
      : [{ task, control, treatment, difference }];
  });
  if (bells.length === 0) return null;
  const shown = pick(bells);
  const left =
    bells.length > shown.length
      ? ` ${bells.length - shown.length} tasks with the smallest differences are in the table only.`
      : "";
  const dropped = tasks.length - bells.length;
  const without =
    dropped > 0 ? ` ${dropped} ${dropped === 1 ? "task has" : "tasks have"} no complete pair and no place here.` : "";
  return {
    title: "Control and treatment, task by task",
    caption: `Each line joins a task's mean reward in control to the one in treatment, over complete pairs; the number is the difference in points. Tasks that gained most stand first.${left}${without}`,
    key: [
      { label: "control", colour: SIDE_COLOUR.control, mark: "ring" },
      { label: "treatment", colour: SIDE_COLOUR.treatment, mark: "dot" },
      { label: "treatment better", colour: "var(--better)", mark: "line" },
      { label: "treatment worse", colour: "var(--worse)", mark: "line" },
    ],
    ...both((width, narrow) => paint(shown, width, narrow)),
    table: null,
  };
}

function pick(bells: readonly Bell[]): readonly Bell[] {
  if (bells.length <= MOST) return bells;
  const chosen = [...bells].sort((a, b) => Math.abs(b.difference) - Math.abs(a.difference)).slice(0, MOST);
  return bells.filter((bell) => chosen.includes(bell));
}

function paint(bells: readonly Bell[], width: number, narrow: boolean): string {
  const names = bells.map(({ task }) => task);
  const row = narrow ? 46 : 32;
  return draw({
    width,
    height: 64 + bells.length * row,
    marginTop: narrow ? 14 : 8,
    marginLeft: narrow ? 12 : labelMargin(names),
    marginRight: 58,
    x: { domain: [0, 1], grid: true, label: "mean reward →", ticks: [0, 0.2, 0.4, 0.6, 0.8, 1], inset: 10 },
    y: { domain: names, label: null, tickSize: 0, tickFormat: shortLabel, ...(narrow ? { axis: null } : {}) },
    marks: [
      Plot.ruleY(bells, {
        y: "task",
        x1: "control",
        x2: "treatment",
        strokeWidth: 5,
        strokeLinecap: "round",
        strokeOpacity: 0.55,
        stroke: ({ difference }: Bell) => (difference < 0 ? "var(--worse)" : "var(--better)"),
      }),
      Plot.dot(bells, {
        y: "task",
        x: "control",
        r: 8,
        fill: "var(--card)",
        stroke: SIDE_COLOUR.control,
        strokeWidth: 2.5,
        title: ({ task, control }: Bell) => `${task}, control: ${score(control)}`,
      }),
      Plot.dot(bells, {
        y: "task",
        x: "treatment",
        r: 4.5,
        fill: SIDE_COLOUR.treatment,
        title: ({ task, treatment }: Bell) => `${task}, treatment: ${score(treatment)}`,
      }),
      Plot.text(bells, {
        y: "task",
        frameAnchor: "right",
        dx: 52,
        textAnchor: "end",
        fontWeight: 600,
        text: ({ difference }: Bell) => points(difference),
        fill: ({ difference }: Bell) =>
          difference > 0 ? "var(--better)" : difference < 0 ? "var(--worse)" : "var(--soft)",
      }),
      ...(narrow
        ? [
            Plot.text(bells, {
              y: "task",
              frameAnchor: "left",
              textAnchor: "start",
              dx: 4,
              dy: -18,
              text: ({ task }: Bell) => shortLabel(task),
            }),
          ]
        : []),
    ],
  });
}
