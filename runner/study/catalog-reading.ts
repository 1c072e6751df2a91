import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { canonicalBytes } from "../base/canonical-json.ts";
import { digestJson } from "../base/digest.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { catalogSchema } from "../base/formats/surface.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { digestSchema } from "../evidence/object-ref.ts";
import type { McpPlan } from "../trial/spec.ts";

const readingSchema = z.strictObject({
  schemaVersion: z.literal("1"),
  kind: z.literal("catalog-reading"),
  /** What was started: the same image and command, without any way out, say the same. */
  server: z.strictObject({
    image: digestSchema,
    command: z.array(z.string()),
    url: z.string(),
    catalogUri: z.string(),
  }),
  catalog: catalogSchema,
  /** Wall-clock label. */
  readAt: z.string(),
});

/** A server's catalog as it was once read on this machine. Reading it can take longer than everything else before a trial. */
export type CatalogReading = z.infer<typeof readingSchema>;

/** Keeps a reading in the runner's local state. */
export async function keepCatalogReading(
  stateDir: string,
  mcp: McpPlan,
  { catalog, readAt }: Pick<CatalogReading, "catalog" | "readAt">,
): Promise<void> {
  const server = serverOf(mcp);
  if (server === null) return;
  const folder = folderOf(stateDir);
  await mkdir(folder, { recursive: true });
  await makeDirectory(folder);
  const reading: CatalogReading = { schemaVersion: "1", kind: "catalog-reading", server, catalog, readAt };
  await writeDurably(pathOf(stateDir, server), canonicalBytes(reading));
}

/** Looks for a reading of exactly this image, command and resource. A file that holds none is as good as no file: the catalog is read anew. */
export async function findCatalogReading(stateDir: string, mcp: McpPlan): Promise<CatalogReading | null> {
  const server = serverOf(mcp);
  if (server === null) return null;
  const path = pathOf(stateDir, server);
  try {
    const read = readingSchema.safeParse(parseStrictJson(await readFile(path), { source: path }));
    return read.success && digestJson(read.data.server) === digestJson(server) ? read.data : null;
  } catch {
    return null;
  }
}

function serverOf({ image, command, url, catalogUri }: McpPlan): CatalogReading["server"] | null {
  return catalogUri === null ? null : { image, command: [...command], url, catalogUri };
}

function pathOf(stateDir: string, server: CatalogReading["server"]): string {
  return join(folderOf(stateDir), `${digestJson(server).slice("sha256:".length)}.json`);
}

function folderOf(stateDir: string): string {
  return join(stateDir, "catalogs");
}
