import { canonicalBytes } from "../base/canonical-json.ts";
import { RunnerError } from "../base/errors.ts";
import { surfaceDigest } from "../base/formats/surface.ts";
import { gatewayPlan } from "../trial/gateway-plan.ts";
import { openSurveyed, probeSurface } from "../trial/probe-surface.ts";
import type { TrialSpec } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";
import { needsGateway, type ReadyGateway } from "./gateways-ahead.ts";
import { mcpPlan, type SpecOptions } from "./trial-specs.ts";

/** What a preflight found: the surface's canonical bytes, and the first treatment trial's gateway, ready; null where no trial needs one. */
export interface Preflighted {
  readonly surface: Buffer;
  readonly ready: ReadyGateway | null;
}

/**
 * Holds the server of the first treatment trial against the locked surface, catalog included. A server takes seconds to start, so that trial
 * keeps it. `specs` are the trials to come in their order; `own` takes the gateway, so that it goes whatever comes after.
 * @throws RunnerError `MCP_PREFLIGHT`, `MCP_SURFACE_CHANGED`.
 */
export async function preflight(
  options: SpecOptions,
  world: SharedWorld,
  specs: readonly TrialSpec[],
  own: AsyncDisposableStack,
): Promise<Preflighted> {
  const { report, signal, prepared } = options;
  const mcp = await mcpPlan(options);
  report(`preflight: starting ${mcp.name} and reading what it advertises`);
  const spec = specs.find((each) => each.condition === "treatment" && needsGateway(each));
  const found =
    spec === undefined
      ? { surface: await probeSurface(world, mcp, signal), set: null }
      : // Whatever it advertises is compared here, as a whole.
        await openSurveyed(world, { ...gatewayPlan(world.runId, spec), mcp, expected: null }, signal);
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
  report(`preflight: the surface is the locked one, ${seen}`);
  return {
    surface: canonicalBytes(found.surface),
    ready: spec === undefined || found.set === null ? null : { spec, set: found.set },
  };
}
