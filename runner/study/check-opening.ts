import { digestJson } from "../base/digest.ts";
import { messageOf } from "../base/errors.ts";
import { isObject } from "../base/json.ts";
import { BUNDLE } from "../evidence/bundle.ts";
import { ENGINE_FACTS } from "./compare-bindings.ts";
import { type Openings, readOpenings } from "./run-opening.ts";
import type { RunReport } from "./run-report.ts";
import type { BundleReader } from "./verify-bundle.ts";

/** Holds the report against what the run bound when it was opened, before any trial began. */
export function checkOpening({ ledger, refuse }: Pick<BundleReader, "ledger" | "refuse">, report: RunReport): void {
  let openings: Openings | null;
  try {
    openings = readOpenings(ledger.lines, BUNDLE.ledger);
  } catch (thrown) {
    refuse(messageOf(thrown));
    return;
  }
  // A ledger without lines is refused for what else it lacks.
  if (openings === null) return;
  const { opening, resumptions } = openings;
  const seen = [opening, ...resumptions].flatMap(({ observedSurface }) => observedSurface ?? []);
  const bound: [string, unknown, unknown][] = [
    ["plan", opening.plan, report.plan.digest],
    ["startedAt", opening.startedAt, report.startedAt],
    ["oracle", opening.oracle, report.oracle],
    ["observedSurface", seen.at(-1), report.observedSurface],
  ];
  for (const name of ENGINE_FACTS) bound.push([`host.${name}`, opening.host[name], report.host[name]]);
  for (const [name, id] of Object.entries(opening.images)) {
    const image = report.images[name];
    if (isObject(image)) bound.push([`image ${name}`, id, image.imageId]);
  }
  for (const [name, then, now] of bound)
    if (digestJson(then ?? null) !== digestJson(now ?? null))
      refuse(`${BUNDLE.ledger}, line 1: the run was opened with another ${name} than the report says`);
}
