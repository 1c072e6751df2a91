/** How control probabilities of tasks are spread. */
export type Spread =
  | { readonly kind: "logit-normal"; readonly deviation: number }
  | { readonly kind: "beta"; readonly total: number }
  /** Control 0.1; treatment 1 in 10 % of tasks and 0 in the rest: mean difference 0. */
  | { readonly kind: "rare-gain" }
  /** Control 0.95; treatment 0 in 5 % of tasks and 1 in the rest: mean difference 0. */
  | { readonly kind: "rare-loss" };

/** A population of tasks with known probabilities of success under both conditions. */
export interface PopulationSpec {
  readonly spread: Spread;
  /** Mean control probability. */
  readonly mean: number;
  /** Mean difference, exact in the population. */
  readonly delta: number;
  /** Deviation of the task effects on the logit scale. */
  readonly tau: number;
}

/**
 * How many complete pairs a task has: `equal`: all planned ones; `missing`: each pair is lost with probability 0.2, tasks without a pair
 * drop out; `mixed`: a uniform number from 1 to the planned one.
 */
export type Pattern = "equal" | "missing" | "mixed";

/** One cell of a simulation. */
export interface CellSpec {
  readonly grid: "page" | "skewed" | "held-out";
  readonly population: PopulationSpec;
  readonly tasks: number;
  readonly repetitions: number;
  readonly pattern: Pattern;
}

const LOGIT_NORMAL: Spread = { kind: "logit-normal", deviation: 2 };
const BETA: Spread = { kind: "beta", total: 1 };
const TASKS = [5, 8, 12, 20, 50, 130];
const REPETITIONS = [1, 3, 5];

/** The settings (delta, tau) for a control mean; effects point to where there is room. */
function settings(mean: number): (readonly [number, number])[] {
  const little = mean > 0.9 ? -0.1 : 0.1;
  const large = mean > 0.8 ? -0.2 : 0.2;
  return [
    [0, 0],
    [0, 2],
    [little, 1],
    [large, 1],
  ];
}

function cells(
  grid: CellSpec["grid"],
  populations: readonly PopulationSpec[],
  tasks: readonly number[],
  repetitions: readonly number[],
  pattern: Pattern,
): CellSpec[] {
  return populations.flatMap((population) =>
    tasks.flatMap((count) => repetitions.map((r) => ({ grid, population, tasks: count, repetitions: r, pattern }))),
  );
}

function pagePopulations(means: readonly number[]): PopulationSpec[] {
  return [LOGIT_NORMAL, BETA].flatMap((spread) =>
    means.flatMap((mean) => settings(mean).map(([delta, tau]) => ({ spread, mean, delta, tau }))),
  );
}

const SKEWED: readonly PopulationSpec[] = [
  { spread: { kind: "rare-gain" }, mean: 0.1, delta: 0, tau: 0 },
  { spread: { kind: "rare-loss" }, mean: 0.95, delta: 0, tau: 0 },
];

/** The 576 cells in which the rule must hold: 5 to 130 tasks, 1 to 5 repetitions, two spreads, four means, four settings. */
export function pageCells(): CellSpec[] {
  return cells("page", pagePopulations([0.2, 0.5, 0.85, 0.97]), TASKS, REPETITIONS, "equal");
}

/** Everything beside them at the same designs: skewed nulls, lost pairs, unequal repetitions. */
export function besideCells(): CellSpec[] {
  const populations = pagePopulations([0.2, 0.5, 0.85, 0.97]);
  return [
    ...cells("skewed", SKEWED, TASKS, REPETITIONS, "equal"),
    ...cells("page", populations, TASKS, REPETITIONS, "missing"),
    ...cells("page", populations, TASKS, [3, 5], "mixed"),
  ];
}

/** A sample of both for every day: one minute instead of a quarter of an hour. */
export function smallCells(): CellSpec[] {
  const populations = pagePopulations([0.5, 0.97]);
  return [
    ...cells("page", populations, [5, 12, 50], [1, 3], "equal"),
    ...cells("skewed", SKEWED, [12], [3], "equal"),
    ...cells("page", populations, [12], [3], "missing"),
    ...cells("page", populations, [12], [3], "mixed"),
  ];
}

/** 960 cells on which nothing was chosen: other means, spreads, effects, numbers of tasks and repetitions. */
export function heldOutCells(): CellSpec[] {
  const spreads: Spread[] = [
    { kind: "logit-normal", deviation: 1 },
    { kind: "logit-normal", deviation: 3 },
    { kind: "beta", total: 0.5 },
    { kind: "beta", total: 3 },
  ];
  const populations = spreads.flatMap((spread) =>
    [0.1, 0.35, 0.7, 0.93].flatMap((mean) => {
      const sign = mean > 0.5 ? -1 : 1;
      const effects = [
        [0, 0],
        [0, 3],
        [sign * 0.05, 1.5],
        [sign * 0.25, 2],
      ] as const;
      return effects.map(([delta, tau]) => ({ spread, mean, delta, tau }));
    }),
  );
  return cells("held-out", populations, [6, 10, 15, 30, 80], [1, 2, 7], "equal");
}

/** The name of a cell: unique, and part of its seed. */
export function cellName({ grid, population, tasks, repetitions, pattern }: CellSpec): string {
  return `${grid}/${populationName(population)}/n${tasks}/r${repetitions}/${pattern}`;
}

/** The name of a population: unique, and part of its seed. */
export function populationName({ spread, mean, delta, tau }: PopulationSpec): string {
  const shape =
    spread.kind === "logit-normal"
      ? `logit-normal-${spread.deviation}`
      : spread.kind === "beta"
        ? `beta-${spread.total}`
        : spread.kind;
  return `${shape}/mean${mean}/delta${delta}/tau${tau}`;
}
