import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { hasCode, RunnerError } from "../base/errors.ts";
import { parseStrictJson } from "../base/strict-json.ts";
import { parseInput } from "../base/zod-input.ts";

const name = z.string().regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, "expected lower-case words joined by -");
const absolute = z.string().regex(/^(?:\/[A-Za-z0-9._+@-]+)+$/, "expected an absolute path without . and ..");
const relative = z.string().regex(/^(?!\/)(?!.*(?:^|\/)\.\.?(?:\/|$))[A-Za-z0-9._/+@-]+$/, "expected a relative path");
const mode = z.string().regex(/^0[0-7]{3}$/, 'expected four octal digits, such as "0644"');

const config = z.strictObject({
  /** Added to the parent's environment. */
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).default({}),
  entrypoint: z.array(z.string()).nullable().default(null),
  cmd: z.array(z.string()).nullable().default(null),
  workdir: z.string().startsWith("/").nullable().default(null),
  user: z.string().nullable().default(null),
});

const common = { schemaVersion: z.literal("1"), name, about: z.string().min(1), config: config.prefault({}) };

const debian = z.strictObject({
  ...common,
  kind: z.literal("debian"),
  /** Debian release; its updates and security suites are used as well. */
  suite: z.string().regex(/^[a-z]+$/),
  packages: z.array(z.string().regex(/^[a-z0-9][a-z0-9+.-]+$/)).min(1),
});

const layer = z.strictObject({
  ...common,
  kind: z.literal("layer"),
  /** The parent: one of our images, or null for an image of this layer alone. */
  from: name.nullable(),
  build: z
    .strictObject({
      /** The image whose container runs the script. */
      in: name,
      script: relative,
      /** Files of the project that the script uses; they stand in its kit, in `uses/`. */
      uses: z.array(relative).exactOptional(),
      /** What becomes the layer: every change, or the named folders. */
      capture: z.union([z.literal("changes"), z.array(absolute).min(1)]),
    })
    .nullable()
    .default(null),
  files: z
    .array(
      z.union([
        z.strictObject({ recipe: relative, to: absolute, mode }),
        z.strictObject({ project: relative, to: absolute, mode }),
      ]),
    )
    .default([]),
});

const schema = z.discriminatedUnion("kind", [debian, layer]);

/** One image's recipe, as `images/<name>/image.json` states it. */
export type Recipe = z.output<typeof schema>;
export type DebianRecipe = Extract<Recipe, { kind: "debian" }>;
export type LayerRecipe = Extract<Recipe, { kind: "layer" }>;
export type RecipeConfig = Recipe["config"];

/** The images a recipe needs before it can be built. */
export function needs(recipe: Recipe): string[] {
  if (recipe.kind === "debian") return [];
  return [...new Set([recipe.from, recipe.build?.in ?? null].filter((value) => value !== null))];
}

/**
 * Reads every recipe below `images/`.
 * @throws RunnerError `JSON_INVALID`, `INPUT_INVALID` or `RECIPE_INVALID`, naming the file.
 */
export async function loadRecipes(projectRoot: string): Promise<ReadonlyMap<string, Recipe>> {
  const root = join(projectRoot, "images");
  const recipes = new Map<string, Recipe>();
  for (const entry of (await readdir(root, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    if (!entry.isDirectory()) continue;
    const source = join(root, entry.name, "image.json");
    const recipe = await readRecipe(source);
    if (recipe === undefined) continue;
    if (recipe.name !== entry.name) throw invalid(source, `name is "${recipe.name}", the folder is "${entry.name}"`);
    recipes.set(recipe.name, recipe);
  }
  for (const recipe of recipes.values()) checkNeeds(recipes, recipe, [], root);
  return recipes;
}

async function readRecipe(source: string): Promise<Recipe | undefined> {
  let bytes: Buffer;
  try {
    bytes = await readFile(source);
  } catch (thrown) {
    if (hasCode(thrown, "ENOENT")) return undefined;
    throw thrown;
  }
  return parseInput<Recipe>(schema, parseStrictJson(bytes, { source }), source);
}

function checkNeeds(recipes: ReadonlyMap<string, Recipe>, recipe: Recipe, path: readonly string[], root: string): void {
  const source = join(root, recipe.name, "image.json");
  if (path.includes(recipe.name)) {
    throw invalid(source, `${[...path, recipe.name].join(" needs ")}: an image cannot need itself`);
  }
  for (const needed of needs(recipe)) {
    const parent = recipes.get(needed);
    if (parent === undefined) throw invalid(source, `needs the image "${needed}", which has no recipe`);
    checkNeeds(recipes, parent, [...path, recipe.name], root);
  }
}

function invalid(source: string, problem: string): RunnerError {
  return new RunnerError("input", "RECIPE_INVALID", `${source}: ${problem}`, {
    hint: "Correct the recipe; nothing was built.",
  });
}
