import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { type Digest, digestJson, isDigest } from "../base/digest.ts";
import { makeDirectory, writeDurably } from "../base/durable.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";
import { type ImagePackage, packageSchema } from "./packages.ts";

const digest = z.custom<Digest>(isDigest, "expected sha256: and 64 hex digits");

const lockedSchema = z.strictObject({
  name: z.string(),
  /** The engine's id: what containers are made from. */
  imageId: digest,
  /** Digest of the image's configuration: the same on every machine for the same inputs and packages. */
  configDigest: digest,
  /** Digest of the recipe, its files, its pins and its parents. */
  inputDigest: digest,
  /** What it stands on: a Debian release, another image, or nothing. */
  base: z.union([
    z.strictObject({ suite: z.string() }),
    z.strictObject({ image: z.string(), configDigest: digest }),
    z.null(),
  ]),
  packages: z.array(packageSchema),
  packagesDigest: digest,
  /** Where the build differs from the pins, both versions side by side. */
  differences: z.array(
    z.strictObject({
      kind: z.enum(["deb", "wheel", "npm"]),
      name: z.string(),
      pinned: z.string().nullable(),
      built: z.string().nullable(),
    }),
  ),
  /** Digests of the layers, bottom first. */
  diffIds: z.array(digest),
});

const schema = z.strictObject({
  schemaVersion: z.literal("1"),
  engine: z.strictObject({ version: z.string(), apiVersion: z.string(), os: z.string(), arch: z.string() }),
  images: z.record(z.string(), lockedSchema),
});

/** One image as this machine has it. */
export type LockedImage = z.output<typeof lockedSchema>;
/** `.runner/images.lock.json`: what this machine built, by image name. */
export type ImagesLock = z.output<typeof schema>;

/** Where the lock stands. */
export function lockPath(stateFolder: string): string {
  return join(stateFolder, "images.lock.json");
}

/** Reads the lock; undefined when nothing has been built on this machine. */
export async function readLock(stateFolder: string): Promise<ImagesLock | undefined> {
  const source = lockPath(stateFolder);
  try {
    return parseInput<ImagesLock>(schema, parseStrictJson(await readFile(source), { source }), source);
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return undefined;
    if (thrown instanceof RunnerError) {
      throw new RunnerError("input", "LOCK_INVALID", thrown.message, {
        cause: thrown,
        hint: "Delete the file and run `runner images build`; images that are already in the engine are found again.",
      });
    }
    throw thrown;
  }
}

/** Adds images to the lock, keeping the others. */
export async function updateLock(
  stateFolder: string,
  engine: ImagesLock["engine"],
  images: readonly LockedImage[],
): Promise<ImagesLock> {
  const before = await readLock(stateFolder);
  const all = { ...before?.images, ...Object.fromEntries(images.map((image) => [image.name, image])) };
  const sorted = Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)));
  const lock: ImagesLock = { schemaVersion: "1", engine, images: sorted };
  await makeDirectory(stateFolder);
  await writeDurably(lockPath(stateFolder), `${JSON.stringify(lock, null, 2)}\n`);
  return lock;
}

/** The digest of a package list; equal lists, equal digests. */
export function digestPackages(packages: readonly ImagePackage[]): Digest {
  return digestJson(packages);
}
