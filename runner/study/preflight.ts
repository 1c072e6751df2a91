import { isDeepStrictEqual } from "node:util";
import { canonicalBytes } from "../base/canonical-json.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { RunnerError } from "../base/errors.ts";
import { surfaceDigest } from "../base/formats/surface.ts";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import { openSurveyed, probeSurface } from "../trial/probe-surface.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";
import { findCatalogReading, keepCatalogReading } from "./catalog-reading.ts";
import { needsGateway, type ReadyGateway } from "./gateways-ahead.ts";
import { stateDirOf } from "./task-images.ts";
import { mcpPlan, type SpecOptions } from "./trial-specs.ts";

/** What a preflight found: the surface's canonical bytes, and the first treatment trial's gateway, ready; null where no trial needs one. */
export interface Preflighted {
  readonly surface: Buffer;
  /** Wall-clock label of an earlier reading of the catalog that was relied on; null: it was read now, or there is none. */
  readonly catalogReadAt: string | null;
  readonly ready: ReadyGateway | null;
}

/**
 * Holds the server of the first treatment trial against the locked surface, catalog included. A server takes seconds to start, so that trial
 * keeps it; a catalog takes seconds to read, so a reading of the same image and command on this machine stands. `specs` are the trials to come in their order; `own` takes the gateway, so that it goes whatever comes after.
 * @throws RunnerError `MCP_PREFLIGHT`, `MCP_SURFACE_CHANGED`.
 */
export async function preflight(
  options: SpecOptions & { readonly projectRoot: string; readonly clock?: Clock },
  world: SharedWorld,
  specs: readonly TrialSpec[],
  own: AsyncDisposableStack,
): Promise<Preflighted> {
  const { report, signal, prepared, projectRoot, clock = systemClock } = options;
  const stateDir = stateDirOf(projectRoot);
  const mcp = await mcpPlan(options);
  report(`preflight: starting ${mcp.name} and reading what it advertises`);
  const earlier = await findCatalogReading(stateDir, mcp);
  const known = isDeepStrictEqual(earlier?.catalog, prepared.surface.catalog) ? earlier : null;
  const spec = specs.find((each) => each.condition === "treatment" && needsGateway(each));
  const found =
    spec === undefined
      ? { surface: await probeSurface(world, mcp, signal), set: null }
      : // Whatever it advertises is compared here, as a whole.
        await openSurveyed(
          world,
          { ...gatewayPlan(world.runId, spec), mcp, expected: null },
          known?.catalog ?? null,
          signal,
        );
  if (found.set !== null) own.use(found.set);
  const [seen, locked] = [surfaceDigest(found.surface), surfaceDigest(prepared.surface)];
  if (seen !== locked) {
    throw new RunnerError(
      "refused",
      "MCP_SURFACE_CHANGED",
      `the MCP server ${mcp.name} advertises ${seen}, locked is ${locked}`,
      {
        hint: "No trial was started. Run `runner images lock` and review the difference, or pin the server's image again.",
      },
    );
  }
  const readAt = spec === undefined ? null : (known?.readAt ?? null);
  report(
    `preflight: the surface is the locked one, ${seen}${readAt === null ? "" : `, its catalog as read at ${readAt}`}`,
  );
  if (readAt === null && found.surface.catalog !== null)
    await keepCatalogReading(stateDir, mcp, { catalog: found.surface.catalog, readAt: clock.wall() });
  return {
    surface: canonicalBytes(found.surface),
    catalogReadAt: readAt,
    ready: spec === undefined || found.set === null ? null : { spec, set: found.set },
  };
}
