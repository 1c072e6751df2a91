import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import type Docker from "dockerode";
import { RunnerError } from "../base/errors.ts";
import { listTree } from "../base/tree-digest.ts";
import { runBuildContainer } from "./build-container.ts";
import { type BuildImagesOptions, type BuildImagesResult, buildImages } from "./build-images.ts";
import { buildKit, debianMirrors } from "./build-kit.ts";
import { addedPackages } from "./build-one.ts";
import { findHostCa } from "./host-ca.ts";
import { comparePackages, describeDifference, type ImagePackage } from "./packages.ts";
import { type Pins, pinnedPackages, pinsPath, readPins, writePins } from "./pins.ts";
import { loadRecipes, needs, type Recipe } from "./recipe.ts";
import { KIT } from "./select-entries.ts";
import { contentOf, readTar } from "./tar-entries.ts";

const LOCK_SCRIPT = "lock.sh";
const LOCK_FILE = "requirements.lock";

export interface LockImagesResult extends BuildImagesResult {
  /** Files that were written, relative to the project. */
  readonly written: readonly string[];
  /** What changed against the pins before, by image. */
  readonly changes: Readonly<Record<string, ReturnType<typeof comparePackages>>>;
}

/**
 * Renews the committed pins: builds every image from the newest packages that the indexes have, writes `images/pins.json` and the wheel
 * locks, and builds again with those pins, so that what is in the engine is what they say.
 * @throws RunnerError as `buildImages` does.
 */
export async function lockImages(options: BuildImagesOptions): Promise<LockImagesResult> {
  const { projectRoot } = options;
  const report = options.report ?? ((): void => {});
  const recipes = await loadRecipes(projectRoot);
  const before = await readPins(projectRoot);
  const unpinned: Pins = { schemaVersion: "1", images: {} };
  const written: string[] = [];
  for (const recipe of recipes.values()) {
    const path = await lockWheels({ ...options, pins: unpinned }, recipe, report);
    if (path !== null) written.push(path);
  }
  report("building every image from the newest packages");
  const newest = await buildImages({ ...options, pins: unpinned });
  const pins = pinsOf(recipes, newest);
  await writePins(projectRoot, pins);
  written.push(pinsPath(projectRoot).slice(projectRoot.length + 1));
  const changes = Object.fromEntries(
    [...recipes.keys()].map((name) => [
      name,
      comparePackages(pinnedPackages(before, name), pinnedPackages(pins, name)),
    ]),
  );
  for (const [name, list] of Object.entries(changes))
    for (const change of list) report(`${name}: ${describeDifference(change)}`);
  report("building every image with the new pins");
  return { ...(await buildImages({ ...options, pins })), written, changes };
}

function pinsOf(recipes: ReadonlyMap<string, Recipe>, built: BuildImagesResult): Pins {
  const images: Record<string, Pins["images"][string]> = {};
  for (const [name, recipe] of recipes) {
    const below = needs(recipe).flatMap((needed) => built.images[needed]?.packages ?? []);
    const own = addedPackages(built.images[name]?.packages ?? [], below);
    // An npm release is pinned in its recipe, by its digest.
    if (own.some(({ kind }) => kind !== "npm"))
      images[name] = { deb: versionsOf(own, "deb"), wheel: versionsOf(own, "wheel") };
  }
  return { schemaVersion: "1", images };
}

function versionsOf(packages: readonly ImagePackage[], kind: ImagePackage["kind"]): Record<string, string> {
  return Object.fromEntries(
    packages.filter((entry) => entry.kind === kind).map((entry) => [entry.name, entry.version]),
  );
}

/** Runs a recipe's `lock.sh`, where it has one, and keeps the lock it prints. */
async function lockWheels(
  options: BuildImagesOptions,
  recipe: Recipe,
  report: (line: string) => void,
): Promise<string | null> {
  const { docker, projectRoot } = options;
  const env = options.env ?? process.env;
  const recipeFolder = join(projectRoot, "images", recipe.name);
  if (recipe.kind === "debian" || recipe.build === null) return null;
  if (!(await listTree(recipeFolder)).some((entry) => entry.path === LOCK_SCRIPT)) return null;
  const base = (await buildImages({ ...options, names: [recipe.build.in] })).images[recipe.build.in];
  if (base === undefined) return null;
  report(`${recipe.name}: resolving the newest wheels`);
  const suite = base.base !== null && "suite" in base.base ? base.base.suite : "stable";
  const kit = await buildKit({
    recipeFolder,
    suite,
    mirrors: debianMirrors(env),
    hostCa: await findHostCa(env),
    pinned: [],
    hostEnv: env,
  });
  await using ran = await runBuildContainer(docker, {
    what: `resolving ${recipe.name}`,
    imageId: base.imageId,
    command: ["/bin/sh", `/${KIT}/recipe/${LOCK_SCRIPT}`],
    env: kit.env,
    entries: kit.entries,
    labels: options.labels ?? {},
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  const text = await readOut(ran.container, recipe.name);
  await writeFile(join(recipeFolder, LOCK_FILE), text);
  return join("images", recipe.name, LOCK_FILE);
}

async function readOut(container: Docker.Container, name: string): Promise<Buffer> {
  const archive = await container.getArchive({ path: `/${KIT}/out/${LOCK_FILE}` });
  for await (const entry of readTar(Readable.from(archive as AsyncIterable<Buffer>))) {
    if (entry.type === "file" && entry.size > 0) return await contentOf(entry);
  }
  throw new RunnerError("input", "LOCK_EMPTY", `images/${name}/${LOCK_SCRIPT} left no ${LOCK_FILE}`, {
    hint: "Correct the script.",
  });
}
