import { join } from "node:path";
import type Docker from "dockerode";
import type { Digest } from "../base/digest.ts";
import { inspectOwn } from "./find-built.ts";
import { type ImagesLock, readLock } from "./lock.ts";
import { repositoryOf } from "./names.ts";
import { describeDifference, type PackageDifference } from "./packages.ts";
import { type Pins, readPins } from "./pins.ts";
import { loadRecipes, needs, type Recipe } from "./recipe.ts";
import { recipeInputs } from "./recipe-digest.ts";

/** How an image stands to its recipe and to the lock. */
export interface ImageState {
  readonly name: string;
  /**
   * `current`: the engine has it, made from what the project says now. `stale`: made from other inputs. `absent`: never built here.
   * `missing`: built, but the engine has it no more. `altered`: the engine's image is not the one that was locked.
   */
  readonly state: "current" | "stale" | "absent" | "missing" | "altered";
  /** One sentence for people. */
  readonly detail: string;
  readonly imageId: Digest | null;
  /** Of the inputs as the project has them now; null when a parent is not there. */
  readonly inputDigest: Digest | null;
  /** Packages that are not the pinned ones. They do not make an image wrong, only another one than the pins describe. */
  readonly differences: readonly PackageDifference[];
}

export interface VerifyImagesOptions {
  readonly docker: Docker;
  readonly projectRoot: string;
  /** Default `<projectRoot>/.runner`. */
  readonly stateFolder?: string;
  readonly names?: readonly string[];
}

/** The images of a lock that the project, as it is now, would make from other inputs, sorted by name. No engine is asked. */
export async function staleImages(
  projectRoot: string,
  lock: ImagesLock,
  concerns: (name: string) => boolean,
): Promise<string[]> {
  const [recipes, pins] = await Promise.all([loadRecipes(projectRoot), readPins(projectRoot)]);
  const built = [...recipes.values()].filter(({ name }) => lock.images[name] !== undefined && concerns(name));
  const stale = await Promise.all(
    built.map(async (recipe) =>
      lock.images[recipe.name]?.inputDigest === (await inputsNow(projectRoot, recipe, pins, lock)) ? [] : [recipe.name],
    ),
  );
  return stale.flat().sort();
}

/** Of the inputs as the project has them now; null when a parent is not there. */
async function inputsNow(
  projectRoot: string,
  recipe: Recipe,
  pins: Pins,
  lock: ImagesLock | undefined,
): Promise<Digest | null> {
  const parents = needs(recipe).map((name) => [name, lock?.images[name]?.configDigest] as const);
  const known = parents.flatMap(([name, digest]) => (digest === undefined ? [] : [[name, digest] as const]));
  if (known.length < parents.length) return null;
  return (await recipeInputs(projectRoot, recipe, pins, Object.fromEntries(known))).inputDigest;
}

/** Compares recipes, lock and engine, and builds nothing. */
export async function verifyImages(options: VerifyImagesOptions): Promise<ImageState[]> {
  const { docker, projectRoot } = options;
  const lock = await readLock(options.stateFolder ?? join(projectRoot, ".runner"));
  const [recipes, pins] = await Promise.all([loadRecipes(projectRoot), readPins(projectRoot)]);
  const wanted = [...recipes.values()].filter((recipe) => options.names?.includes(recipe.name) ?? true);
  return await Promise.all(wanted.map((recipe) => stateOf(recipe)));

  async function stateOf(recipe: Recipe): Promise<ImageState> {
    const locked = lock?.images[recipe.name];
    const inputDigest = await inputsNow(projectRoot, recipe, pins, lock);
    const answer = (state: ImageState["state"], detail: string): ImageState => ({
      name: recipe.name,
      state,
      detail,
      imageId: locked?.imageId ?? null,
      inputDigest,
      differences: locked?.differences ?? [],
    });
    if (locked === undefined) return answer("absent", "not built on this machine; run `runner images build`");
    const image = await inspectOwn(docker, locked.imageId);
    if (image === undefined)
      return answer("missing", `${locked.imageId} is not in the engine; run \`runner images build\``);
    if (locked.inputDigest !== inputDigest) {
      return answer(
        "stale",
        `built from ${locked.inputDigest}, the project now says ${inputDigest ?? "(a parent is not built)"}`,
      );
    }
    const latest = await inspectOwn(docker, `${repositoryOf(recipe.name)}:latest`);
    if (image.inputDigest !== locked.inputDigest || latest?.imageId !== locked.imageId) {
      return answer(
        "altered",
        `the tag latest names ${latest?.imageId ?? "nothing of ours"}, the lock says ${locked.imageId}`,
      );
    }
    const drift = locked.differences.map(describeDifference).join("; ");
    return answer("current", drift === "" ? "as pinned" : `as the recipe says, with other packages: ${drift}`);
  }
}
