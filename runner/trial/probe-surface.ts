import { RunnerError } from "../base/errors.ts";
import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import { type Surface, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readArchive } from "../docker/archive/read.ts";
import { TrialFailure } from "./failure.ts";
import { finishGateway } from "./gateway-evidence.ts";
import { openGatewaySet } from "./gateway-set.ts";
import type { McpPlan } from "./spec.ts";
import type { SharedWorld } from "./world.ts";

/** A catalog may be tens of megabytes, and its server slow to write it for the first time. */
const PROBE_MS = 300_000;
const MAX_SURFACE_BYTES = 64 * 1024 * 1024;

/**
 * Starts a server of its own, asks it through a gateway what it advertises, catalog included, and removes both.
 * @throws RunnerError `MCP_PREFLIGHT` with what the server did instead.
 */
export async function probeSurface(world: SharedWorld, mcp: McpPlan, signal: AbortSignal): Promise<Surface> {
  const trialId = `${world.runId}-preflight`;
  try {
    await using set = await openGatewaySet(
      world,
      {
        trialId,
        config: {
          schemaVersion: "1",
          trialId,
          scope: { task: "preflight", condition: "treatment", repetition: 1 },
          model: null,
          mcp: { url: mcp.url, catalogUri: mcp.catalogUri, knownCatalog: mcp.surface.catalog },
          limits: { preflightMillis: PROBE_MS },
        },
        cassette: null,
        mcp,
        expected: null,
        outward: false,
      },
      signal,
    );
    await finishGateway(set, signal);
    const source = `${GATEWAY_PATHS.evidence}/surface.json`;
    const archive = await set.gateway.getArchive(source, { signal });
    if (archive === null) throw new RunnerError("environment", "MCP_PREFLIGHT", "the gateway wrote no surface");
    let bytes = Buffer.alloc(0);
    await readArchive(archive, {
      root: source,
      signal,
      limits: { fileBytes: MAX_SURFACE_BYTES },
      onEntry: async (_entry, body) => {
        const chunks: Buffer[] = [];
        for await (const chunk of body ?? []) chunks.push(chunk);
        bytes = Buffer.concat(chunks);
      },
    });
    return parseInput<Surface>(surfaceSchema, parseStrictJson(bytes, { source }), source);
  } catch (thrown) {
    if (!(thrown instanceof TrialFailure)) throw thrown;
    throw new RunnerError("environment", "MCP_PREFLIGHT", `${thrown.failure.detail} (${thrown.failure.code})`, {
      hint: "No trial was started. Mend the server's command, image or URL in the study.",
      cause: thrown,
    });
  }
}
