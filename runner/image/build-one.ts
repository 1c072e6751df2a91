import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import type Docker from "dockerode";
import { canonicalText } from "../base/canonical-json.ts";
import { makeDirectory } from "../base/durable.ts";
import { type ImageSettings, imageConfig, mergeSettings } from "./archive.ts";
import { bootstrapDebian } from "./bootstrap.ts";
import { type BuildContainer, runBuildContainer } from "./build-container.ts";
import { buildKit, type DebianMirrors } from "./build-kit.ts";
import { captureChanges, captureFolders, withFiles } from "./capture.ts";
import type { HostCa } from "./host-ca.ts";
import { loadImage } from "./load-image.ts";
import { digestPackages, type LockedImage } from "./lock.ts";
import { IMAGE_LABEL, INPUT_LABEL, PACKAGES_LABEL, repositoryOf, tagOf } from "./names.ts";
import { comparePackages, type ImagePackage, mergePackages } from "./packages.ts";
import type { LayerRecipe, Recipe } from "./recipe.ts";
import type { RecipeInputs } from "./recipe-digest.ts";
import { watchPackages } from "./select-entries.ts";
import { fileEntry, type LayerEntry } from "./tar-entries.ts";
import { type Layer, writeLayer } from "./write-layer.ts";

/** An image that is there, with what an image on top of it needs to know. */
export interface BuiltImage {
  readonly locked: LockedImage;
  readonly settings: ImageSettings;
  /** The Debian release at the bottom, or null below an image of files alone. */
  readonly suite: string | null;
}

export interface BuildOneRequest {
  readonly projectRoot: string;
  readonly stateFolder: string;
  readonly recipe: Recipe;
  readonly inputs: RecipeInputs;
  readonly parent: BuiltImage | null;
  /** The image whose container runs the build script. */
  readonly builder: BuiltImage | null;
  /** The pins of this image and of those below. */
  readonly preferred: readonly ImagePackage[];
  /** What this image should add. */
  readonly pinned: readonly ImagePackage[];
  readonly mirrors: DebianMirrors | null;
  readonly hostCa: HostCa | null;
  readonly hostEnv: Readonly<Record<string, string | undefined>>;
  readonly labels: Readonly<Record<string, string>>;
  readonly report: (line: string) => void;
  readonly signal?: AbortSignal;
}

/** Builds one image and brings it into the engine; nothing of it depends on this machine or this moment but the packages' versions. */
export async function buildOne(docker: Docker, request: BuildOneRequest): Promise<BuiltImage> {
  const { recipe, parent } = request;
  const cache = join(request.stateFolder, "cache");
  await makeDirectory(cache);
  const workFolder = await mkdtemp(join(cache, `image-${recipe.name}-`));
  try {
    const found: ImagePackage[] = [];
    const layer = await ownLayer(docker, request, workFolder, found);
    const below = parent ?? request.builder;
    const packages = mergePackages(below?.locked.packages ?? [], found);
    const settings = mergeSettings(parent?.settings ?? null, recipe.config);
    const diffIds = [...(parent?.locked.diffIds ?? []), ...(layer === null ? [] : [layer.diffId])];
    const config = imageConfig(recipe.name, settings, diffIds, {
      [IMAGE_LABEL]: recipe.name,
      [INPUT_LABEL]: request.inputs.inputDigest,
      [PACKAGES_LABEL]: canonicalText(packages),
    });
    const repository = repositoryOf(recipe.name);
    const imageId = await loadImage(docker, {
      config,
      layers: layer === null ? [] : [layer],
      tags: [`${repository}:${tagOf(request.inputs.inputDigest)}`, `${repository}:latest`],
      parentId: parent?.locked.imageId ?? null,
      workFolder,
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    return describe(request, imageId as LockedImage["imageId"], config, packages, settings);
  } finally {
    await rm(workFolder, { recursive: true, force: true });
  }
}

function describe(
  request: BuildOneRequest,
  imageId: LockedImage["imageId"],
  config: { readonly digest: LockedImage["configDigest"]; readonly diffIds: readonly LockedImage["configDigest"][] },
  packages: readonly ImagePackage[],
  settings: ImageSettings,
): BuiltImage {
  const { recipe, parent, builder } = request;
  return {
    locked: {
      name: recipe.name,
      imageId,
      configDigest: config.digest,
      inputDigest: request.inputs.inputDigest,
      base: baseOf(recipe, parent ?? builder),
      packages: [...packages],
      packagesDigest: digestPackages(packages),
      differences: differencesOf(request.pinned, packages, (parent ?? builder)?.locked.packages ?? []),
      diffIds: [...config.diffIds],
    },
    settings,
    suite: recipe.kind === "debian" ? recipe.suite : ((parent ?? builder)?.suite ?? null),
  };
}

/** What an image stands on, for its record. */
export function baseOf(recipe: Recipe, below: BuiltImage | null): LockedImage["base"] {
  if (recipe.kind === "debian") return { suite: recipe.suite };
  return below === null ? null : { image: below.locked.name, configDigest: below.locked.configDigest };
}

/** How the packages an image adds to those below differ from its pins. An image without pins of its own differs in nothing. */
export function differencesOf(
  pinned: readonly ImagePackage[],
  packages: readonly ImagePackage[],
  below: readonly ImagePackage[],
): LockedImage["differences"] {
  return pinned.length === 0 ? [] : comparePackages(pinned, addedPackages(packages, below));
}

/** The packages that an image has and the one below it has not, or has in another version. */
export function addedPackages(packages: readonly ImagePackage[], below: readonly ImagePackage[]): ImagePackage[] {
  const known = new Set(below.map((entry) => `${entry.kind} ${entry.name} ${entry.version}`));
  return packages.filter((entry) => !known.has(`${entry.kind} ${entry.name} ${entry.version}`));
}

async function ownLayer(
  docker: Docker,
  request: BuildOneRequest,
  workFolder: string,
  found: ImagePackage[],
): Promise<Layer | null> {
  const { recipe, signal } = request;
  const file = join(workFolder, "layer.tar");
  if (recipe.kind === "debian") {
    const entries = bootstrapDebian({
      recipe,
      pinned: request.preferred,
      mirrors: request.mirrors,
      workFolder,
      report: request.report,
      ...(signal === undefined ? {} : { signal }),
    });
    return await writeLayer(file, watchPackages(entries, found), signal);
  }
  if (recipe.build === null && recipe.files.length === 0) return null;
  const built = recipe.build === null ? null : await runScript(docker, request, recipe, recipe.build);
  try {
    const captured = built === null ? nothing() : capture(built, recipe.build);
    const files = request.inputs.files.map((entry) => fileEntry(entry.path.slice(1), entry.content, entry.mode));
    return await writeLayer(file, watchPackages(withFiles(captured, files, recipe.from === null), found), signal);
  } finally {
    await built?.[Symbol.asyncDispose]();
  }
}

function capture(built: BuildContainer, build: LayerRecipe["build"]): AsyncIterable<LayerEntry> {
  return build === null || build.capture === "changes"
    ? captureChanges(built.container)
    : captureFolders(built.container, build.capture);
}

async function* nothing(): AsyncGenerator<LayerEntry> {}

async function runScript(
  docker: Docker,
  request: BuildOneRequest,
  recipe: LayerRecipe,
  build: NonNullable<LayerRecipe["build"]>,
): Promise<BuildContainer> {
  const { builder } = request;
  if (builder === null) throw new TypeError(`${recipe.name} has a build script and no image to run it in`);
  const kit = await buildKit({
    recipeFolder: join(request.projectRoot, "images", recipe.name),
    uses: (build.uses ?? []).map((path) => join(request.projectRoot, path)),
    suite: builder.suite ?? "stable",
    mirrors: request.mirrors,
    hostCa: request.hostCa,
    pinned: request.preferred,
    hostEnv: request.hostEnv,
  });
  return await runBuildContainer(docker, {
    what: `building ${recipe.name}`,
    imageId: builder.locked.imageId,
    command: ["/bin/sh", `${kit.env.KIT}/recipe/${build.script}`],
    env: { ...builder.settings.env, ...kit.env },
    entries: kit.entries,
    labels: request.labels,
    ...(request.signal === undefined ? {} : { signal: request.signal }),
  });
}
