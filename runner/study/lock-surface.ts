import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { systemClock } from "../base/clock.ts";
import type { Digest } from "../base/digest.ts";
import { hasCode } from "../base/errors.ts";
import { type Surface, surfaceDigest, surfaceSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import type { Engine } from "../docker/engine.ts";
import { resolveImage } from "../image/resolve-base.ts";
import { newRunId, openWorld } from "../trial/open-world.ts";
import { probeSurface } from "../trial/probe-surface.ts";
import { keepCatalogReading } from "./catalog-reading.ts";
import type { LoadedStudy } from "./study-file.ts";
import { type ImageSettings, readOwnImages, stateDirOf } from "./task-images.ts";

/** A surface that was written, and the one that stood there before. */
export interface LockedSurface {
  readonly path: string;
  readonly digest: Digest;
  readonly before: Digest | null;
  readonly surface: Surface;
}

/** Asks the study's MCP server what it advertises and writes it as the surface that studies are held against; reviewed like code. */
export async function lockSurface(
  engine: Engine,
  images: ImageSettings,
  study: LoadedStudy,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<LockedSurface> {
  const surface = await readLiveSurface(engine, images, study, report, signal);
  const path = study.resolve(study.study.conditions.treatment.mcp.surface);
  const before = await readSurface(path);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(surface, null, 2)}\n`);
  return { path, digest: surfaceDigest(surface), before: before === null ? null : surfaceDigest(before), surface };
}

/** Starts the study's MCP server and asks it what it advertises. @throws RunnerError `MCP_PREFLIGHT`. */
export async function readLiveSurface(
  engine: Engine,
  images: ImageSettings,
  study: LoadedStudy,
  report: (line: string) => void,
  signal: AbortSignal,
): Promise<Surface> {
  const { mcp } = study.study.conditions.treatment;
  const own = await readOwnImages(images, engine, null);
  const image =
    own.ids.get(mcp.image) ??
    (await resolveImage(engine.docker, mcp.image, { maps: [], lock: own.lock, report, signal })).imageId;
  await using world = await openWorld({ engine, runId: newRunId(systemClock), images: own.ids, signal });
  const plan = {
    name: mcp.name,
    image,
    command: mcp.command,
    url: mcp.url,
    startMicros: mcp.startSeconds * 1_000_000,
    memoryBytes: mcp.memoryMb * 1024 * 1024,
    surface: NO_SURFACE,
    catalogUri: mcp.catalog ?? null,
  };
  const surface = await probeSurface(world, plan, signal);
  if (surface.catalog !== null) {
    const reading = { catalog: surface.catalog, readAt: systemClock.wall() };
    await keepCatalogReading(stateDirOf(images.projectRoot), plan, reading);
  }
  return surface;
}

/** The probe compares with nothing. */
const NO_SURFACE: Surface = {
  schemaVersion: "1",
  server: { name: "", version: "" },
  protocolVersion: "",
  capabilities: {},
  instructions: null,
  tools: [],
  catalog: null,
};

async function readSurface(path: string): Promise<Surface | null> {
  try {
    const parsed = surfaceSchema.safeParse(parseStrictJson(await readFile(path), { source: path }));
    return parsed.success ? parsed.data : null;
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return null;
    throw thrown;
  }
}
