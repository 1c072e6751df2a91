import { RunnerError } from "../base/errors.ts";
import type { Catalog, Surface } from "../base/formats/surface.ts";
import { advertisedSurface } from "./advertised-surface.ts";
import { TrialFailure } from "./failure.ts";
import { type GatewaySet, type GatewaySetSpec, openGatewaySet } from "./gateway-set.ts";
import type { McpPlan } from "./spec.ts";
import { surveySurface } from "./survey-surface.ts";
import type { SharedWorld } from "./world.ts";

/** What a server advertises, and the gateway that it was asked through; both are the caller's now. */
export interface Surveyed {
  readonly surface: Surface;
  readonly set: GatewaySet;
}

/**
 * Starts a gateway with its server and asks the server what it advertises; `catalog` is one that was read before, or null where there is none to
 * rely on: it is then read, which can take the longest.
 * @throws RunnerError `MCP_PREFLIGHT` with what the server did instead.
 */
export async function openSurveyed(
  world: SharedWorld,
  plan: GatewaySetSpec & { readonly mcp: McpPlan },
  catalog: Catalog | null,
  signal: AbortSignal,
): Promise<Surveyed> {
  try {
    const set = await openGatewaySet(world, plan, signal);
    try {
      const surface =
        catalog === null
          ? await surveySurface(set, plan.mcp, signal)
          : { ...(await advertisedSurface(set, signal)), catalog };
      return { set, surface };
    } catch (thrown) {
      await set[Symbol.asyncDispose]();
      throw thrown;
    }
  } catch (thrown) {
    if (!(thrown instanceof TrialFailure)) throw thrown;
    const { code, detail } = thrown.failure;
    throw new RunnerError("environment", "MCP_PREFLIGHT", `${detail} (${code})`, {
      hint: "No trial was started. Mend the server's command, image or URL in the study.",
      cause: thrown,
    });
  }
}

/** {@link openSurveyed}, catalog included, with a server of its own, which is removed again. */
export async function probeSurface(world: SharedWorld, mcp: McpPlan, signal: AbortSignal): Promise<Surface> {
  const trialId = `${world.runId}-preflight`;
  const scope = { task: "preflight", condition: "treatment", repetition: 1 } as const;
  const config = { schemaVersion: "1", trialId, scope, model: null, mcp: { url: mcp.url } } as const;
  const plan = { trialId, config, cassette: null, mcp, expected: null, outward: false };
  const { set, surface } = await openSurveyed(world, plan, null, signal);
  await set[Symbol.asyncDispose]();
  return surface;
}
