import { counted } from "../stats/wording.ts";
import type { Drift } from "./regression-drift.ts";
import type { RegressionLock } from "./regression-lock.ts";

const HEADINGS: readonly (readonly [Drift["of"], string])[] = [
  ["task", "tasks changed"],
  ["image", "images changed"],
  ["server", "the server changed: its package, its image or what it advertises"],
  ["study", "the study changed"],
];

/** What a regression run found, for people: inputs by what they belong to, then outcomes with whether an input explains them. */
export function regressionText(lock: RegressionLock, drifts: readonly Drift[], problems: readonly string[]): string {
  const tasks = Object.keys(lock.tasks).length;
  if (drifts.length === 0 && problems.length === 0)
    return `the same: ${counted(tasks, "task")}, no input and no outcome changed\n`;
  const inputs = drifts.filter(({ of }) => of !== "outcome");
  const outcomes = drifts.filter(({ of }) => of === "outcome");
  const lines: string[] = [`drift of inputs: ${inputs.length}`];
  for (const [of, heading] of HEADINGS) {
    const own = inputs.filter((drift) => drift.of === of);
    if (own.length > 0) lines.push(`  ${heading}:`, ...own.map((drift) => `    ${told(drift)}`));
  }
  lines.push(`drift of outcomes: ${outcomes.length}`);
  for (const drift of outcomes) lines.push(`  ${told(drift)}`, `    ${explained(drift, inputs, lock)}`);
  for (const problem of problems) lines.push(`problem: ${problem}`);
  return `${lines.join("\n")}\n`;
}

function told({ name, part, expected, found }: Drift): string {
  return `${name}, ${part}: expected ${expected ?? "nothing"}, found ${found ?? "nothing"}`;
}

/** Which changed inputs could explain an outcome; none is the more alarming answer. */
function explained({ name, part }: Drift, inputs: readonly Drift[], lock: RegressionLock): string {
  const replayed = lock.study !== null && name === lock.study.path;
  const task = replayed ? part.split(" ")[0] : name;
  const near = inputs.filter((input) => (input.of === "task" ? input.name === task : replayed || input.of === "image"));
  const kinds = [...new Set(near.map(({ of, name: what }) => `${of} ${what}`))];
  return kinds.length === 0 ? "no input of it changed" : `changed before it: ${kinds.join(", ")}`;
}
