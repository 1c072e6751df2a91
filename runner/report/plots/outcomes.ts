import * as Plot from "@observablehq/plot";
import type { PairEnd, ReportModel } from "../model.ts";
import { endOf } from "../words.ts";
import { both, draw, END_COLOUR, ENDS, labelMargin, type Picture, shortLabel } from "./draw.ts";

interface Cell {
  readonly task: string;
  readonly end: PairEnd;
  readonly name: string;
}

const MOST = 80;

/** How the trials of a single condition ended, task by task; null without trials. */
export function outcomes({ trials, study }: ReportModel): Picture | null {
  if (trials.length === 0) return null;
  const tasks = [...new Set(trials.map(({ task }) => task))].sort();
  const many = tasks.length > MOST;
  const cells = trials.map((trial): Cell => {
    const name = `${trial.task} #${trial.repetition}: ${trial.outcome}${trial.reward === null ? "" : `, reward ${trial.reward}`}`;
    return { task: many ? "all tasks" : trial.task, end: endOf(trial), name };
  });
  return {
    title: "How trials ended, task by task",
    caption: `A box is one trial${many ? `, all ${tasks.length} tasks together` : `, ${study.repetitions} to a task`}. Unscored trials are in no mean: they are neither solved nor failed.`,
    key: ENDS.filter((end) => cells.some((cell) => cell.end === end)).map((end) => ({
      label: end,
      colour: END_COLOUR[end],
      mark: "box",
    })),
    ...both((width, narrow) => paint(cells, many ? ["all tasks"] : tasks, width, narrow)),
    table: null,
  };
}

function paint(cells: readonly Cell[], tasks: readonly string[], width: number, narrow: boolean): string {
  return draw({
    width,
    height: 62 + tasks.length * (narrow ? 46 : 30),
    marginTop: narrow ? 18 : 8,
    marginLeft: narrow ? 8 : labelMargin(tasks),
    marginRight: 12,
    x: { label: "trials →", tickFormat: "d", interval: 1, ...(cells.length > 200 ? { ticks: 6 } : {}) },
    y: {
      domain: [...tasks],
      label: null,
      tickSize: 0,
      tickFormat: shortLabel,
      padding: narrow ? 0.5 : 0.25,
      ...(narrow ? { axis: null } : {}),
    },
    marks: [
      Plot.barX(
        cells,
        Plot.stackX({
          y: "task",
          x: 1,
          order: (cell: Cell) => ENDS.indexOf(cell.end),
          fill: (cell: Cell) => END_COLOUR[cell.end],
          inset: cells.length > 400 ? 0 : 1,
          r: 3,
          title: "name",
        }),
      ),
      ...(narrow
        ? [
            Plot.text(tasks, {
              y: (task: string) => task,
              frameAnchor: "left",
              textAnchor: "start",
              dy: -20,
              text: shortLabel,
            }),
          ]
        : []),
    ],
  });
}
