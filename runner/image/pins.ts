import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { writeDurably } from "../base/durable.ts";
import { hasCode } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import type { ImagePackage } from "./packages.ts";

const versions = z.record(z.string(), z.string());
const schema = z.strictObject({
  schemaVersion: z.literal("1"),
  /** By image: the versions its own layer adds to those of its parent. */
  images: z.record(z.string(), z.strictObject({ deb: versions.default({}), wheel: versions.default({}) })),
});

/** The committed package versions, by image. */
export type Pins = z.output<typeof schema>;

/** Where the pins stand in a project. */
export function pinsPath(projectRoot: string): string {
  return join(projectRoot, "images", "pins.json");
}

/** Reads `images/pins.json`; a project without one has no pins. */
export async function readPins(projectRoot: string): Promise<Pins> {
  const source = pinsPath(projectRoot);
  try {
    return parseInput<Pins>(schema, parseStrictJson(await readFile(source), { source }), source);
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return { schemaVersion: "1", images: {} };
    throw thrown;
  }
}

/** Writes `images/pins.json`, sorted, two spaces, so that a change reads well in review. */
export async function writePins(projectRoot: string, pins: Pins): Promise<void> {
  await writeDurably(pinsPath(projectRoot), `${JSON.stringify(pins, null, 2)}\n`);
}

/** The packages pinned for one image's own layer. */
export function pinnedPackages(pins: Pins, name: string): ImagePackage[] {
  const own = pins.images[name];
  if (own === undefined) return [];
  return (["deb", "wheel"] as const).flatMap((kind) =>
    Object.entries(own[kind]).map(([packageName, version]) => ({ kind, name: packageName, version })),
  );
}

/**
 * Preferences that make apt take a pinned version wherever an index still has it; for one that is gone apt falls back to the
 * newest, so a mirror that has moved on never blocks a build.
 */
export function aptPreferences(packages: readonly ImagePackage[]): string {
  return packages
    .filter((entry) => entry.kind === "deb")
    .map((entry) => `Package: ${entry.name}\nPin: version ${entry.version}\nPin-Priority: 1001\n`)
    .join("\n");
}
