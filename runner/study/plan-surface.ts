import { readFile } from "node:fs/promises";
import { hasCode, RunnerError } from "../base/errors.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { Plan } from "./plan.ts";
import type { LoadedStudy } from "./study-file.ts";

/** Reads a locked surface. @throws RunnerError `SURFACE_MISSING`, `JSON_INVALID`, `INPUT_INVALID`. */
export async function readSurface(path: string): Promise<Surface> {
  let bytes: Buffer;
  try {
    bytes = await readFile(path);
  } catch (cause) {
    if (!hasCode(cause, "ENOENT")) throw cause;
    throw new RunnerError("input", "SURFACE_MISSING", `the locked surface ${path} does not exist`, {
      hint: "Run `runner images lock` and review what it writes.",
      cause,
    });
  }
  return parseInput<Surface>(surfaceSchema, parseStrictJson(bytes, { source: path }), path);
}

/** What a plan binds of the treatment's server. */
export function mcpBinding({ study }: LoadedStudy, surface: Surface): Plan["mcp"] {
  const { mcp } = study.conditions.treatment;
  return {
    name: mcp.name,
    image: mcp.image,
    command: mcp.command,
    url: mcp.url,
    surface: surfaceDigest(surface),
    catalog: surface.catalog === null ? null : { ...surface.catalog },
  };
}
