import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Digest, digestBytes, digestJson } from "../base/digest.ts";
import { hasCode, RunnerError } from "../base/errors.ts";
import { listTree } from "../base/tree-digest.ts";
import { type Pins, pinnedPackages } from "./pins.ts";
import type { Recipe } from "./recipe.ts";

/** Raised when the way images are built changes, so that earlier results are not taken for new ones. */
const BUILDER_VERSION = "1";

/** A file of a recipe, read. */
export interface RecipeFile {
  readonly path: string;
  readonly content: Buffer;
  readonly mode: number;
}

/** Everything a recipe brings along besides its parents. */
export interface RecipeInputs {
  readonly inputDigest: Digest;
  /** Files that are copied into the image. */
  readonly files: readonly RecipeFile[];
}

/**
 * Reads a recipe's files and digests everything the image depends on: recipe, folder, copied files, pins, parents.
 * @throws RunnerError `IMAGE_FILE_MISSING` when a file to be copied is not there.
 */
export async function recipeInputs(
  projectRoot: string,
  recipe: Recipe,
  pins: Pins,
  parents: Readonly<Record<string, Digest>>,
): Promise<RecipeInputs> {
  const folder = join(projectRoot, "images", recipe.name);
  const files =
    recipe.kind === "debian"
      ? []
      : await Promise.all(recipe.files.map((file) => readRecipeFile(projectRoot, folder, file)));
  const uses = recipe.kind === "debian" ? [] : (recipe.build?.uses ?? []);
  const used = await Promise.all(
    uses.map(async (path) => ({ path, digest: digestBytes(await readProjectFile(join(projectRoot, path), "kit")) })),
  );
  const inputDigest = digestJson({
    builder: BUILDER_VERSION,
    recipe,
    folder: await listTree(folder, { include: (path) => path !== "image.json" }),
    files: files.map((file) => ({ path: file.path, mode: file.mode, digest: digestBytes(file.content) })),
    pins: pinnedPackages(pins, recipe.name),
    parents,
    ...(used.length === 0 ? {} : { used }),
  });
  return { inputDigest, files };
}

type FileOfRecipe = Extract<Recipe, { kind: "layer" }>["files"][number];

async function readRecipeFile(projectRoot: string, folder: string, file: FileOfRecipe): Promise<RecipeFile> {
  const source = "project" in file ? join(projectRoot, file.project) : join(folder, file.recipe);
  return { path: file.to, content: await readProjectFile(source, file.to), mode: Number.parseInt(file.mode, 8) };
}

async function readProjectFile(source: string, to: string): Promise<Buffer> {
  try {
    return await readFile(source);
  } catch (thrown) {
    if (!hasCode(thrown, "ENOENT")) throw thrown;
    throw new RunnerError(
      "environment",
      "IMAGE_FILE_MISSING",
      `${source} is not there, and goes into an image as ${to}`,
      {
        hint: source.includes("/dist/") ? "Build it first: npm run build." : "Correct the recipe or restore the file.",
        cause: thrown,
      },
    );
  }
}
