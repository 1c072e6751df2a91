import { join } from "node:path";
import type Docker from "dockerode";
import { canonicalText } from "../base/canonical-json.ts";
import { RunnerError } from "../base/errors.ts";
import { type ImageSettings, imageConfig, mergeSettings } from "./archive.ts";
import { debianMirrors } from "./build-kit.ts";
import { type BuiltImage, baseOf, buildOne, differencesOf } from "./build-one.ts";
import { engineFacts } from "./engine-facts.ts";
import { findLocked, findTagged, packagesDigestOf, restoreLatest } from "./find-built.ts";
import { findHostCa } from "./host-ca.ts";
import { type ImagesLock, type LockedImage, readLock, updateLock } from "./lock.ts";
import { IMAGE_LABEL, INPUT_LABEL, PACKAGES_LABEL } from "./names.ts";
import { npmRegistry } from "./npm-registry.ts";
import { describeDifference } from "./packages.ts";
import { type Pins, pinnedPackages, readPins } from "./pins.ts";
import { loadRecipes, needs, type Recipe } from "./recipe.ts";
import { recipeInputs } from "./recipe-digest.ts";

export interface BuildImagesOptions {
  readonly docker: Docker;
  /** The folder with `images/` and `dist/`. */
  readonly projectRoot: string;
  /** Local state; default `<projectRoot>/.runner`. */
  readonly stateFolder?: string;
  /** Which images; default all. What they need is built as well. */
  readonly names?: readonly string[];
  /** Builds the named images again (without names: all), also when they are there; what they need is still found. */
  readonly force?: boolean;
  /** Takes the place of `images/pins.json`. */
  readonly pins?: Pins;
  /** Labels of build containers, so that one that outlives this process is found and removed. */
  readonly labels?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Receives words for people, one line each. */
  readonly report?: (line: string) => void;
  readonly signal?: AbortSignal;
}

export interface BuildImagesResult {
  /** The images asked for and what they need, by name. */
  readonly images: Readonly<Record<string, LockedImage>>;
  readonly built: readonly string[];
  readonly cached: readonly string[];
  /** Seconds by image, for those built. */
  readonly seconds: Readonly<Record<string, number>>;
  readonly lock: ImagesLock;
}

/**
 * Makes sure that the images are in the engine: those whose inputs have not changed are found there, the others are built, at once where
 * they do not need each other. Writes the local lock. A package index that has moved on is no obstacle: every package that differs from
 * the pins is reported and recorded.
 * @throws RunnerError from reading recipes, or as the build fails; images that were finished stay.
 */
export async function buildImages(options: BuildImagesOptions): Promise<BuildImagesResult> {
  const { docker, projectRoot, names, signal } = options;
  const report = options.report ?? ((): void => {});
  const env = options.env ?? process.env;
  const stateFolder = options.stateFolder ?? join(projectRoot, ".runner");
  const [recipes, pins, lock, engine] = await Promise.all([
    loadRecipes(projectRoot),
    options.pins ?? readPins(projectRoot),
    readLock(stateFolder),
    engineFacts(docker),
  ]);
  // One image's failure ends the builds beside it: they could not be used.
  const stop = new AbortController();
  const joint = signal === undefined ? stop.signal : AbortSignal.any([signal, stop.signal]);
  const hostCa = findHostCa(env);
  let asked: Promise<string | undefined> | undefined;
  const registry = (): Promise<string | undefined> => (asked ??= npmRegistry(env));
  const jobs = new Map<string, Promise<BuiltImage>>();
  const outcome: { readonly built: string[]; readonly cached: string[]; readonly seconds: Record<string, number> } = {
    built: [],
    cached: [],
    seconds: {},
  };

  const job = (name: string): Promise<BuiltImage> => {
    const started = jobs.get(name) ?? make(recipeOf(recipes, name));
    jobs.set(name, started);
    return started;
  };

  const make = async (recipe: Recipe): Promise<BuiltImage> => {
    const parents = Object.fromEntries(
      await Promise.all(needs(recipe).map(async (name) => [name, await job(name)] as const)),
    );
    const digests = Object.fromEntries(
      Object.entries(parents).map(([name, image]) => [name, image.locked.configDigest]),
    );
    const parent = recipe.kind === "layer" && recipe.from !== null ? (parents[recipe.from] ?? null) : null;
    const builder = recipe.kind === "layer" && recipe.build !== null ? (parents[recipe.build.in] ?? null) : null;
    const inputs = await recipeInputs(projectRoot, recipe, pins, digests);
    const pinned = pinnedPackages(pins, recipe.name);
    const again = options.force === true && (names?.includes(recipe.name) ?? true);
    if (!again) {
      const found = await findBuilt(docker, lock, recipe, inputs.inputDigest, parent, builder, pinned);
      if (found !== undefined) {
        await restoreLatest(docker, recipe.name, found.locked.imageId);
        outcome.cached.push(recipe.name);
        return found;
      }
    }
    joint.throwIfAborted();
    report(`${recipe.name}: building`);
    const start = process.hrtime.bigint();
    const built = await buildOne(docker, {
      projectRoot,
      stateFolder,
      recipe,
      inputs,
      parent,
      builder,
      preferred: [...new Set([recipe.name, ...lineage(recipes, recipe)])].flatMap((name) => pinnedPackages(pins, name)),
      pinned,
      mirrors: debianMirrors(env),
      hostCa: await hostCa,
      hostEnv: { ...env, NPM_CONFIG_REGISTRY: await registry() },
      labels: options.labels ?? {},
      report,
      signal: joint,
    });
    outcome.seconds[recipe.name] = Number((process.hrtime.bigint() - start) / 1_000_000n) / 1000;
    outcome.built.push(recipe.name);
    report(`${recipe.name}: built in ${outcome.seconds[recipe.name]?.toFixed(1)} s, ${built.locked.imageId}`);
    for (const difference of built.locked.differences) report(`${recipe.name}: ${describeDifference(difference)}`);
    return built;
  };

  const settled = await Promise.allSettled(
    (names ?? [...recipes.keys()]).map(async (name) => {
      try {
        return await job(name);
      } catch (thrown) {
        stop.abort(thrown);
        throw thrown;
      }
    }),
  );
  const finished = await Promise.allSettled(jobs.values());
  const images = finished.flatMap((result) => (result.status === "fulfilled" ? [result.value.locked] : []));
  const written =
    outcome.built.length > 0 || !sameImages(lock, images) ? await updateLock(stateFolder, engine, images) : lock;
  if (settled.some((result) => result.status === "rejected")) throw failureOf(stop.signal, signal);
  return {
    images: Object.fromEntries(images.map((image) => [image.name, image])),
    ...outcome,
    lock: written ?? (await updateLock(stateFolder, engine, images)),
  };
}

function failureOf(stop: AbortSignal, outer: AbortSignal | undefined): unknown {
  if (outer?.aborted === true)
    return new RunnerError("interrupted", "INTERRUPTED", "building images was interrupted", { cause: outer.reason });
  return stop.reason;
}

function recipeOf(recipes: ReadonlyMap<string, Recipe>, name: string): Recipe {
  const recipe = recipes.get(name);
  if (recipe !== undefined) return recipe;
  throw new RunnerError("usage", "IMAGE_UNKNOWN", `there is no image "${name}"`, {
    hint: `Name one of ${[...recipes.keys()].join(", ")}.`,
  });
}

function lineage(recipes: ReadonlyMap<string, Recipe>, recipe: Recipe): string[] {
  return needs(recipe).flatMap((name) => [name, ...lineage(recipes, recipeOf(recipes, name))]);
}

function sameImages(lock: ImagesLock | undefined, images: readonly LockedImage[]): boolean {
  return images.every((image) => {
    const entry = lock?.images[image.name];
    return entry !== undefined && canonicalText(entry) === canonicalText(image);
  });
}

async function findBuilt(
  docker: Docker,
  lock: ImagesLock | undefined,
  recipe: Recipe,
  inputDigest: LockedImage["inputDigest"],
  parent: BuiltImage | null,
  builder: BuiltImage | null,
  pinned: Parameters<typeof differencesOf>[0],
): Promise<BuiltImage | undefined> {
  const below = parent ?? builder;
  const settings: ImageSettings = mergeSettings(parent?.settings ?? null, recipe.config);
  const suite = recipe.kind === "debian" ? recipe.suite : (below?.suite ?? null);
  const locked = await findLocked(docker, lock, recipe.name, inputDigest);
  if (locked !== undefined) return { locked, settings, suite };
  const image = await findTagged(docker, recipe.name, inputDigest);
  if (image === undefined) return undefined;
  const labels = {
    [IMAGE_LABEL]: recipe.name,
    [INPUT_LABEL]: inputDigest,
    [PACKAGES_LABEL]: canonicalText(image.packages),
  };
  return {
    locked: {
      name: recipe.name,
      imageId: image.imageId,
      configDigest: imageConfig(recipe.name, settings, image.diffIds, labels).digest,
      inputDigest,
      base: baseOf(recipe, below),
      packages: [...image.packages],
      packagesDigest: packagesDigestOf(image),
      differences: differencesOf(pinned, image.packages, below?.locked.packages ?? []),
      diffIds: [...image.diffIds],
    },
    settings,
    suite,
  };
}
