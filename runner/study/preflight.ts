import { canonicalBytes } from "../base/canonical-json.ts";
import { RunnerError } from "../base/errors.ts";
import { surfaceDigest } from "../base/formats/surface.ts";
import { probeSurface } from "../trial/probe-surface.ts";
import type { McpPlan } from "../trial/spec.ts";
import type { SharedWorld } from "../trial/world.ts";
import type { SpecOptions } from "./trial-specs.ts";

/** Holds a server of the run's own against the locked surface, catalog included. @throws RunnerError `MCP_PREFLIGHT`, `MCP_SURFACE_CHANGED`. */
export async function preflight(
  { report, signal, prepared }: Pick<SpecOptions, "report" | "signal" | "prepared">,
  world: SharedWorld,
  mcp: McpPlan,
): Promise<Buffer> {
  report(`preflight: starting ${mcp.name} and reading what it advertises`);
  const surface = await probeSurface(world, mcp, signal);
  const [found, locked] = [surfaceDigest(surface), surfaceDigest(prepared.surface)];
  if (found !== locked) {
    throw new RunnerError(
      "refused",
      "MCP_SURFACE_CHANGED",
      `the MCP server ${mcp.name} advertises ${found}, locked is ${locked}`,
      {
        hint: "No trial was started. Run `runner images lock` and review the difference, or pin the server's image again.",
      },
    );
  }
  report(`preflight: the surface is the locked one, ${found}`);
  return canonicalBytes(surface);
}
