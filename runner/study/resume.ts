import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { systemClock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { RunnerError } from "../base/errors.ts";
import { AsyncStack } from "../base/stack.ts";
import { type BundleWriter, openBundle } from "../evidence/bundle.ts";
import type { ObjectRef } from "../evidence/object-ref.ts";
import { openWorld } from "../trial/open-world.ts";
import type { TrialSpec } from "../trial/spec.ts";
import { ENGINE_FACTS } from "./compare-bindings.ts";
import { markCutOff } from "./cut-off.ts";
import { showValue } from "./differences.ts";
import { openRun } from "./execute.ts";
import { type FoundRun, type FoundSide, holdSide } from "./find-run.ts";
import { writePair } from "./pair-file.ts";
import { requireSamePlan } from "./plan-changes.ts";
import { preflight } from "./preflight.ts";
import { asEvent, boundTaskImages, supersededAnchors } from "./run-opening.ts";
import { registerRun } from "./run-registry.ts";
import type { SealedRun } from "./seal-run.ts";
import { type OpenSide, runSession, type SessionOptions, taskImagesOf } from "./session.ts";
import { foreignServerImage, planTrialSpecs } from "./trial-specs.ts";
import { removeTemporaries } from "./unbegun.ts";

/** A condition's bundle that was opened again, or for the first time, with the anchor that its new report supersedes. */
export interface ResumedRun extends SealedRun {
  readonly supersedes: Digest | null;
}

/** Whether everything of a run is sealed and nothing is to be tried again. */
export function isComplete({ sides }: FoundRun): boolean {
  return sides.every(({ due, sealed }) => due.length === 0 && sealed);
}

/**
 * Continues a run: the attempts that are due, in the plan's order, then new reports for the conditions that had any or were not sealed. The
 * plan is held against what is on this machine now, field by field.
 * @throws RunnerError `PLAN_CHANGED`, `RUN_CHANGED` naming what differs; nothing was written then.
 */
export async function resumeRun(options: SessionOptions, run: FoundRun): Promise<ResumedRun[]> {
  const { engine, prepared, signal, report, clock = systemClock } = options;
  const { openings, runId, sides } = run;
  requireSamePlan(run.plan, prepared.plan);
  await requireSameMachine(options, run);
  const startedAt = clock.wall();
  await using stack = new AsyncStack();
  const shared = stack.use(await openWorld({ engine, runId, images: prepared.own.ids, signal, clock }));
  const open = sides.filter(({ due, sealed }) => due.length > 0 || !sealed);
  const specs = await dueSpecs(options, open);
  const treated = open.find(({ condition, due }) => condition === "treatment" && due.length > 0);
  const seenNow = treated === undefined ? null : await preflight(options, shared, specs, stack);
  const secrets = [...new Set(specs.map((spec) => spec.model?.apiKey))];
  stack.use(
    await registerRun(
      options.projectRoot,
      runId,
      sides.map(({ dir }) => dir),
      shared.owner,
    ),
  );
  await removeTemporaries(run.dir);
  const reopened: OpenSide[] = [];
  const superseded = new Map<string, Digest | null>();
  for (const side of open) {
    const { condition, dir } = side;
    await removeTemporaries(dir);
    const bundle = stack.use(await openBundle(dir, { secrets, ledger: side.ledger }));
    const seen = condition === "treatment" ? seenNow : null;
    if (side.openings === null) {
      stack.use(await holdSide(side));
      const { order } = openings.opening;
      await openRun(options, bundle, { runId, condition, order, startedAt, seen });
      reopened.push({ condition, bundle, surface: seen?.surface ?? null, earlier: [] });
      continue;
    }
    const cut = await markCutOff(bundle.ledger, side.ledger.lines);
    if (cut > 0)
      report(
        `${condition}: ${cut} ${cut === 1 ? "attempt" : "attempts"} had been cut off: kept in the ledger, and made again`,
      );
    const supersedes = side.report?.anchor ?? null;
    const observedSurface = seen === null ? null : await bundle.store.put(seen.surface);
    await bundle.store.sync();
    const taskImages = taskImagesOf(prepared);
    await bundle.ledger.append(
      asEvent({
        ...{ type: "run-resumed", runId, condition, startedAt, taskImages, observedSurface, supersedes },
        catalogReadAt: seen?.catalogReadAt ?? null,
      }),
    );
    const earlier = await keepEarlier(bundle, side);
    superseded.set(condition, supersedes);
    reopened.push({ condition, bundle, surface: seen?.surface ?? (await seenBefore(bundle, side)), earlier });
  }
  const sealed = await runSession(options, shared, reopened, specs, seenNow?.ready ? [seenNow.ready] : []);
  if (openings.opening.order === "interleaved") await writePairOf(run, sealed);
  return sealed.map((each) => ({ ...each, supersedes: superseded.get(each.condition) ?? null }));
}

/** Writes the document that binds a run's two reports, from those just sealed and those that stood. */
export async function writePairOf(run: FoundRun, sealed: readonly SealedRun[]): Promise<void> {
  await writePair(
    run.dir,
    run.sides.map(({ condition, report }) => {
      const made = sealed.find((each) => each.condition === condition);
      if (made !== undefined) return made;
      if (report === null) throw new Error(`${condition} is not sealed`);
      return { condition, anchor: report.anchor, report: report.document };
    }),
  );
}

async function dueSpecs(options: SessionOptions, open: readonly FoundSide[]): Promise<TrialSpec[]> {
  const attempts = new Map(open.flatMap(({ due }) => due.map(({ number, attempt }) => [number, attempt] as const)));
  return (await planTrialSpecs(options, (number) => attempts.has(number))).map((spec) => ({
    ...spec,
    attempt: attempts.get(spec.number) ?? 1,
  }));
}

/** Puts the report that is superseded into the store, where its digest is the old anchor, and gives all that the run had. */
async function keepEarlier({ store }: BundleWriter, { report, openings }: FoundSide): Promise<ObjectRef[]> {
  if (report !== null) await store.put(report.bytes);
  const anchors = [
    ...(openings === null ? [] : supersededAnchors(openings)),
    ...(report === null ? [] : [report.anchor]),
  ];
  return Promise.all(
    [...new Set(anchors)].map(async (digest) => ({ digest, size: (await stat(store.path(digest))).size })),
  );
}

async function seenBefore({ store }: BundleWriter, { openings }: FoundSide): Promise<Buffer | null> {
  if (openings === null) return null;
  const refs = [openings.opening, ...openings.resumptions].flatMap(({ observedSurface }) => observedSurface ?? []);
  const last = refs.at(-1);
  return last === undefined ? null : store.readAll(last);
}

/** What a run bound beside its plan: the engine, and the ids of all images. */
async function requireSameMachine(options: SessionOptions, { openings, plan, runId, sides }: FoundRun): Promise<void> {
  const { engine, prepared } = options;
  const { opening } = openings;
  const foreign = opening.images[plan.mcp.image] === undefined ? {} : await foreignServerImage(options);
  const bound: [string, unknown, unknown][] = [];
  const facts: Readonly<Record<string, unknown>> = { ...engine.facts };
  for (const name of ENGINE_FACTS) bound.push([`engine ${name}`, opening.host[name], facts[name]]);
  for (const [name, id] of Object.entries(opening.images))
    bound.push([`image ${name}`, id, prepared.own.ids.get(name) ?? foreign[name]]);
  const found = taskImagesOf(prepared);
  for (const { openings: own } of sides) {
    for (const [task, images] of Object.entries(own === null ? {} : boundTaskImages(own)))
      for (const [role, id] of Object.entries(images)) bound.push([`${task}: ${role} image`, id, found[task]?.[role]]);
  }
  const changed = [
    ...new Set(
      bound.flatMap(([name, there, here]) =>
        isDeepStrictEqual(there, here) ? [] : [`${name}: bound ${showValue(there)}, found ${showValue(here)}`],
      ),
    ),
  ];
  if (changed.length === 0) return;
  throw new RunnerError("refused", "RUN_CHANGED", `run ${runId} cannot be continued here: ${changed.join("; ")}`, {
    hint: "Continue it where it was begun, with the same engine and images, or start a new run.",
    details: { differences: changed },
  });
}
