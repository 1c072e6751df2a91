import type { Task } from "./model.ts";

/** Numbers of tasks by the value of one metadata key; `unknown` counts the tasks that do not say. */
export type Counts = Readonly<Record<string, number>>;

/** Tasks of one coverage class. Classes are different kinds of evidence and are never added up. */
export interface CoverageInventory {
  readonly coverageClass: string;
  readonly byFamily: Counts;
  readonly byAffordance: Counts;
  readonly byDifficulty: Counts;
  readonly byRole: Counts;
}

/** What a dataset holds, one entry for each coverage class that occurs, in alphabetical order. */
export interface Inventory {
  readonly schemaVersion: "1";
  readonly coverage: readonly CoverageInventory[];
}

const UNKNOWN = "unknown";

/** Counts tasks by family, affordance, difficulty and role within each coverage class of `[metadata]`. */
export function inventory(tasks: readonly Pick<Task, "metadata">[]): Inventory {
  const classes = [...new Set(tasks.map((task) => text(task, "coverage_class")))].sort();
  return {
    schemaVersion: "1",
    coverage: classes.map((coverageClass) => {
      const members = tasks.filter((task) => text(task, "coverage_class") === coverageClass);
      const by = (key: string) => count(members.map((task) => text(task, key)));
      return {
        coverageClass,
        byFamily: by("family"),
        byAffordance: by("affordance"),
        byDifficulty: by("difficulty"),
        byRole: count(members.flatMap(roles)),
      };
    }),
  };
}

function text({ metadata }: Pick<Task, "metadata">, key: string): string {
  const value = metadata[key];
  return typeof value === "string" && value !== "" ? value : UNKNOWN;
}

function roles({ metadata }: Pick<Task, "metadata">): string[] {
  const value = metadata.roles;
  return Array.isArray(value) ? value.filter((role) => typeof role === "string") : [];
}

function count(values: readonly string[]): Counts {
  const counts = new Map<string, number>();
  for (const value of [...values].sort()) counts.set(value, (counts.get(value) ?? 0) + 1);
  return Object.fromEntries(counts);
}
