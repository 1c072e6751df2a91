import { buffer } from "node:stream/consumers";
import { RunnerError } from "../base/errors.ts";
import { GATEWAY_PATHS } from "../base/formats/gateway-config.ts";
import { type Surface, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { readArchive } from "../docker/archive/read.ts";
import type { GatewaySet } from "./gateway-set.ts";

const MAX_SURFACE_BYTES = 64 * 1024 * 1024;

/** The surface that a gateway's own preflight saw, without a catalog. */
export async function advertisedSurface({ gateway }: GatewaySet, signal: AbortSignal): Promise<Surface> {
  const source = `${GATEWAY_PATHS.evidence}/surface.json`;
  const archive = await gateway.getArchive(source, { signal });
  if (archive === null) throw new RunnerError("environment", "MCP_PREFLIGHT", "the gateway wrote no surface");
  let bytes = Buffer.alloc(0);
  await readArchive(archive, {
    root: source,
    signal,
    limits: { fileBytes: MAX_SURFACE_BYTES },
    onEntry: async (_entry, body) => {
      if (body !== null) bytes = await buffer(body);
    },
  });
  return parseInput<Surface>(surfaceSchema, parseStrictJson(bytes, { source }), source);
}
