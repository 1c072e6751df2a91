import { join } from "node:path";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { AsyncStack } from "../base/stack.ts";
import type { Engine } from "../docker/engine.ts";
import { BUNDLE, type BundleWriter, createBundle, requireEmpty } from "../evidence/bundle.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import type { TrialWorld } from "../trial/world.ts";
import type { PreparedPlan } from "./make-plan.ts";
import type { Condition } from "./order.ts";
import { preflight } from "./preflight.ts";
import { registerRun } from "./run-registry.ts";
import { runTrials } from "./run-trials.ts";
import { type SealedRun, sealRun } from "./seal-run.ts";
import type { LoadedStudy } from "./study-file.ts";
import { mcpPlan, planTrialSpecs } from "./trial-specs.ts";

export interface ExecuteOptions {
  readonly engine: Engine;
  readonly study: LoadedStudy;
  readonly prepared: PreparedPlan;
  /** The runner's folder, whose local state notes that the run is under way. */
  readonly projectRoot: string;
  readonly conditions: readonly Condition[];
  /** The bundle's folder; with both conditions the parent of `control` and `treatment`. */
  readonly out: string;
  readonly concurrency: number;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly report: (line: string) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Runs the planned trials of the given conditions in the plan's order and seals one bundle per condition. The treatment's server is held
 * against the lock before anything is created.
 */
export async function executePlan(options: ExecuteOptions): Promise<SealedRun[]> {
  const { engine, prepared, conditions, out, signal, clock = systemClock } = options;
  await requireEmpty(out);
  const runId = newRunId(clock);
  const startedAt = clock.wall();
  await using stack = new AsyncStack();
  const shared = stack.use(await openWorld({ engine, runId, images: prepared.own.ids, signal, clock }));
  const specs = (await planTrialSpecs(options)).filter(({ condition }) => conditions.includes(condition as Condition));
  const mcp = await mcpPlan(options);
  const surface = conditions.includes("treatment") ? await preflight(options, shared, mcp) : null;
  const secrets = specs.map((spec) => spec.model?.apiKey);
  const dirs = conditions.map((condition) => (conditions.length > 1 ? join(out, condition) : out));
  stack.use(await registerRun(options.projectRoot, runId, dirs, shared.owner));
  const bundles = new Map<Condition, BundleWriter>();
  const worlds = new Map<Condition, TrialWorld>();
  for (const condition of conditions) {
    const bundle = stack.use(await createBundle(conditions.length > 1 ? join(out, condition) : out, { secrets }));
    bundles.set(condition, bundle);
    worlds.set(condition, { ...shared, store: bundle.store });
    await bundle.writeDocument(BUNDLE.plan, canonicalBytes(prepared.plan));
    await bundle.ledger.append({ type: "run-opened", runId, kind: "run", condition });
  }
  const results = await runTrials(options, specs, worlds, bundles);
  const runs: SealedRun[] = [];
  for (const condition of conditions) {
    const bundle = bundles.get(condition);
    if (bundle === undefined) continue;
    await bundle.ledger.append({ type: "run-closed", runId });
    runs.push(
      await sealRun({
        bundle,
        runId,
        condition,
        order: conditions.length > 1 ? "interleaved" : "separate",
        prepared,
        surface: condition === "treatment" ? surface : null,
        trials: results.filter(({ record }) => record.condition === condition),
        engine,
        startedAt,
        finishedAt: clock.wall(),
      }),
    );
  }
  return runs;
}
