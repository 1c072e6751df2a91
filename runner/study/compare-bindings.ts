import { isDeepStrictEqual } from "node:util";
import type { Digest } from "../base/digest.ts";
import { isUnknown } from "../base/unknown.ts";
import { differencesOf, showValue } from "./differences.ts";
import { CONDITIONS } from "./order.ts";
import type { VerifiedRun } from "./verify-run.ts";

/** Facts of the engine under which a trial may come out differently. */
export const ENGINE_FACTS = ["os", "arch", "version", "storageDriver", "cgroupVersion", "securityOptions"] as const;
/** Facts that bear on times alone; a difference is said and does not refuse. */
const MACHINE_FACTS = ["kernel", "operatingSystem", "cpus", "memoryBytes"] as const;

/** Longest list of differing places in one document. */
const MAX_PLACES = 40;

/** Everything that stands against comparing two runs with each other, each with its place. */
export function pairReasons(control: VerifiedRun, treatment: VerifiedRun): string[] {
  const reasons: string[] = [];
  for (const [side, run] of [
    ["control", control],
    ["treatment", treatment],
  ] as const) {
    if (run.report.condition !== side)
      reasons.push(`condition: the run given as ${side} was executed under ${run.report.condition}`);
  }
  if (control.report.plan.digest !== treatment.report.plan.digest) {
    reasons.push(`plan: control has ${control.report.plan.digest}, treatment ${treatment.report.plan.digest}`);
    const places = differences(control.plan, treatment.plan);
    for (const place of places.slice(0, MAX_PLACES)) reasons.push(`plan${place}`);
    if (places.length > MAX_PLACES) reasons.push(`plan: and ${places.length - MAX_PLACES} more places differ`);
  }
  for (const name of ["studyId", "evidenceClass", "causalClaimAuthorized", "subset", "modelSource", "order"] as const) {
    if (control.report[name] !== treatment.report[name])
      reasons.push(
        `${name}: control says ${showValue(control.report[name])}, treatment ${showValue(treatment.report[name])}`,
      );
  }
  if (
    control.report.order === "interleaved" &&
    treatment.report.order === "interleaved" &&
    control.report.runId !== treatment.report.runId
  ) {
    reasons.push(
      `runId: ${control.report.runId} and ${treatment.report.runId} ran interleaved, each with another partner`,
    );
  }
  for (const name of ENGINE_FACTS) {
    const [here, there] = [control.report.host[name], treatment.report.host[name]];
    if (!isDeepStrictEqual(here, there))
      reasons.push(`host.${name}: control ran on ${showValue(here)}, treatment on ${showValue(there)}`);
  }
  reasons.push(...differences(control.report.images, treatment.report.images).map((place) => `images${place}`));
  // The plan binds what each oracle evidence proves; when it was proven again is no difference.
  reasons.push(...surfaceReasons(control, treatment));
  reasons.push(...imageReasons(control, treatment));
  const models = { control: observedModels(control), treatment: observedModels(treatment) };
  for (const side of CONDITIONS)
    if (models[side].length > 1) reasons.push(`model: ${side} was answered by several: ${models[side].join(", ")}`);
  // A side that no model answered was compared by its bindings; it has no other model.
  if (
    models.control.length > 0 &&
    models.treatment.length > 0 &&
    !isDeepStrictEqual(models.control, models.treatment)
  ) {
    reasons.push(
      `model: control was answered by ${models.control.join(", ")}, treatment by ${models.treatment.join(", ")}`,
    );
  }
  const agents = [...new Set([...observedAgents(control), ...observedAgents(treatment)])].sort();
  if (agents.length > 1) reasons.push(`agent: by its own words it was of several releases: ${agents.join(", ")}`);
  return reasons;
}

/** Releases of the agent by its own words in the scored trials. */
function observedAgents({ rows }: VerifiedRun): string[] {
  return rows.flatMap(({ outcome, transcript }) => {
    if (outcome !== "scored" || transcript === null || isUnknown(transcript)) return [];
    return isUnknown(transcript.version) ? [] : [transcript.version];
  });
}

/** Differences of the machines that do not refuse. */
export function machineDifferences(control: VerifiedRun, treatment: VerifiedRun): string[] {
  return MACHINE_FACTS.filter((name) => !isDeepStrictEqual(control.report.host[name], treatment.report.host[name])).map(
    (name) => `${name} ${showValue(control.report.host[name])} and ${showValue(treatment.report.host[name])}`,
  );
}

function surfaceReasons({ report: control }: VerifiedRun, { report: treatment }: VerifiedRun): string[] {
  const reasons: string[] = [];
  if (control.lockedSurface.digest !== treatment.lockedSurface.digest)
    reasons.push("lockedSurface: the two runs were held against different surfaces");
  if (control.observedSurface !== null) reasons.push("observedSurface: control saw an MCP server");
  if (treatment.observedSurface === null) reasons.push("observedSurface: treatment saw no MCP server");
  else if (control.observedSurface?.digest === treatment.observedSurface.digest)
    reasons.push("observedSurface: both runs saw the same surface, so there is no treatment");
  return reasons;
}

/** Environment, verifiers and gateway are the same on both sides, task by task; only the treatment has a server. */
function imageReasons(control: VerifiedRun, treatment: VerifiedRun): string[] {
  const reasons: string[] = [];
  const both = (task: string): [ReadonlyMap<string, Digest>, ReadonlyMap<string, Digest>] => [
    control.images.get(task) ?? new Map(),
    treatment.images.get(task) ?? new Map(),
  ];
  for (const { id } of control.plan.tasks) {
    const [here, there] = both(id);
    for (const role of new Set([...here.keys(), ...there.keys()])) {
      if (role === "mcp") continue;
      const [a, b] = [here.get(role), there.get(role)];
      // A side whose trials all failed before an image was used says nothing.
      if (a !== undefined && b !== undefined && a !== b)
        reasons.push(`${id}: control ran the ${role} image ${a}, treatment ${b}`);
    }
  }
  return reasons;
}

function observedModels({ rows }: VerifiedRun): string[] {
  const names = new Set<string>();
  for (const { outcome, metrics } of rows) {
    if (outcome !== "scored" || metrics === null || isUnknown(metrics)) continue;
    const { observedModels: seen } = metrics.model;
    if (!isUnknown(seen)) for (const name of seen) names.add(name);
  }
  return [...names].sort();
}

/** The JSON pointers at which two documents differ, with both values. */
function differences(a: unknown, b: unknown): string[] {
  return differencesOf(a, b).map(
    ({ pointer, first, second }) => `${pointer}: control has ${showValue(first)}, treatment ${showValue(second)}`,
  );
}
