import { join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { systemClock } from "../base/clock.ts";
import { digestJson } from "../base/digest.ts";
import { AsyncStack } from "../base/stack.ts";
import { BUNDLE, createBundle, type openBundle } from "../evidence/bundle.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import type { Condition } from "./order.ts";
import { writePair } from "./pair-file.ts";
import { type Preflighted, preflight } from "./preflight.ts";
import { asEvent, type Opening } from "./run-opening.ts";
import { registerRun } from "./run-registry.ts";
import { type SealedRun, storeOracle } from "./seal-run.ts";
import { holdLedger, type OpenSide, runSession, type SessionOptions, taskImagesOf } from "./session.ts";
import { foreignServerImage, planTrialSpecs } from "./trial-specs.ts";
import { takeFolder } from "./unbegun.ts";

export interface ExecuteOptions extends SessionOptions {
  readonly conditions: readonly Condition[];
  /** The bundle's folder; with both conditions the parent of `control` and `treatment`. */
  readonly out: string;
}

/**
 * Runs the planned trials of the given conditions in the plan's order and seals one bundle per condition. The treatment's server is held
 * against the lock before anything is created.
 */
export async function executePlan(options: ExecuteOptions): Promise<SealedRun[]> {
  const { engine, prepared, conditions, out, signal, clock = systemClock } = options;
  await using _folder = await takeFolder(out);
  const runId = newRunId(clock);
  const startedAt = clock.wall();
  await using stack = new AsyncStack();
  const shared = stack.use(await openWorld({ engine, runId, images: prepared.own.ids, signal, clock }));
  const specs = (await planTrialSpecs(options)).filter(({ condition }) => conditions.includes(condition as Condition));
  const treated = conditions.includes("treatment") ? await preflight(options, shared, specs, stack) : null;
  const secrets = [...new Set(specs.map((spec) => spec.model?.apiKey))];
  const both = conditions.length > 1;
  const dirOf = (condition: Condition): string => (both ? join(out, condition) : out);
  stack.use(await registerRun(options.projectRoot, runId, conditions.map(dirOf), shared.owner));
  const sides: OpenSide[] = [];
  for (const condition of conditions) {
    const bundle = stack.use(await createBundle(dirOf(condition), { secrets }));
    stack.use(await holdLedger(bundle.dir));
    const seen = condition === "treatment" ? treated : null;
    await openRun(options, bundle, {
      runId,
      condition,
      order: both ? "interleaved" : "separate",
      startedAt,
      seen,
    });
    sides.push({ condition, bundle, surface: seen?.surface ?? null, earlier: [] });
  }
  const runs = await runSession(options, shared, sides, specs, treated?.ready ? [treated.ready] : []);
  if (both) await writePair(out, runs);
  return runs;
}

/** Writes what a new run binds: its plan, then, with everything it names durable, the line that opens it. */
export async function openRun(
  options: SessionOptions,
  bundle: Awaited<ReturnType<typeof openBundle>>,
  run: Pick<Opening, "runId" | "condition" | "order" | "startedAt"> & { readonly seen: Preflighted | null },
): Promise<void> {
  const { prepared, request, engine } = options;
  const { seen, ...identity } = run;
  const { store } = bundle;
  await bundle.writeDocument(BUNDLE.plan, canonicalBytes(prepared.plan));
  const opening: Opening = {
    type: "run-opened",
    kind: "run",
    ...identity,
    plan: digestJson(prepared.plan),
    request,
    host: { ...engine.facts },
    images: { ...Object.fromEntries(prepared.own.ids), ...(await foreignServerImage(options)) },
    taskImages: taskImagesOf(prepared),
    oracle: await storeOracle(store, prepared),
    observedSurface: seen === null ? null : await store.put(seen.surface),
    catalogReadAt: seen?.catalogReadAt ?? null,
  };
  await store.sync();
  await bundle.ledger.append(asEvent(opening));
}
