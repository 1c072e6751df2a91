import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Pins } from "../../../runner/image/pins.ts";
import { loadRecipes, needs } from "../../../runner/image/recipe.ts";
import { recipeInputs } from "../../../runner/image/recipe-digest.ts";

const NO_PINS: Pins = { schemaVersion: "1", images: {} };
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "recipes-"));
});
afterEach(async () => {
  await rm(root, { recursive: true, force: true });
});

async function put(name: string, recipe: object, files: Record<string, string> = {}): Promise<void> {
  const folder = join(root, "images", name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "image.json"), JSON.stringify({ schemaVersion: "1", name, about: "words", ...recipe }));
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
}
const debian = { kind: "debian", suite: "trixie", packages: ["python3"] };

describe("loadRecipes", () => {
  it("reads the project's own recipes", async () => {
    const recipes = await loadRecipes(fileURLToPath(new URL("../../../", import.meta.url)));
    expect([...recipes].map(([name, recipe]) => [name, needs(recipe)])).toEqual([
      ["agent-claude-code", ["base"]],
      ["agent-codex", ["base"]],
      ["agent-opencode", ["base"]],
      ["agent-qwen-coder", ["base"]],
      ["agent-toolloop", ["base"]],
      ["base", []],
      ["gateway", ["base"]],
      ["jacobian", ["base"]],
      ["verifier", ["base"]],
      ["workbench", ["base"]],
    ]);
  });

  it.each<[string, object, string]>([
    ["an unknown key", { ...debian, sweet: 1 }, 'Unrecognized key: "sweet"'],
    [
      "a path that leaves its folder",
      { kind: "layer", from: null, files: [{ recipe: "../x", to: "/x", mode: "0644" }] },
      "expected a relative path",
    ],
    [
      "a target that is not absolute",
      { kind: "layer", from: null, files: [{ recipe: "x", to: "/a/../x y", mode: "0644" }] },
      "expected an absolute path",
    ],
    ["another name than its folder's", { ...debian, name: "other" }, 'name is "other", the folder is "a"'],
    ["a parent without recipe", { kind: "layer", from: "ghost" }, 'needs the image "ghost", which has no recipe'],
    ["itself as parent", { kind: "layer", from: "a" }, "a needs a: an image cannot need itself"],
  ])("refuses %s and names the file", async (_title, recipe, message) => {
    await put("a", recipe);
    await expect(loadRecipes(root)).rejects.toThrow(message);
    await expect(loadRecipes(root)).rejects.toThrow(join(root, "images", "a", "image.json"));
  });
});

describe("recipeInputs", () => {
  const digest = async (pins = NO_PINS, parents = {}): Promise<string> => {
    const recipe = (await loadRecipes(root)).get("a");
    if (recipe === undefined) throw new Error("no recipe");
    return (await recipeInputs(root, recipe, pins, parents)).inputDigest;
  };

  it("changes with the recipe, its folder, its files, its pins and its parents, and with nothing else", async () => {
    await put("base", debian);
    const layer = { kind: "layer", from: "base", files: [{ project: "dist/x.mjs", to: "/x.mjs", mode: "0644" }] };
    await mkdir(join(root, "dist"));
    await writeFile(join(root, "dist", "x.mjs"), "1");
    await put("a", layer, { "build.sh": "one" });
    const seen = [await digest()];
    expect(await digest()).toBe(seen[0]);
    expect(await digest({ schemaVersion: "1", images: { other: { deb: { a: "1" }, wheel: {} } } })).toBe(seen[0]);
    seen.push(await digest({ schemaVersion: "1", images: { a: { deb: { a: "1" }, wheel: {} } } }));
    seen.push(await digest(NO_PINS, { base: "sha256:1" }));
    await put("a", layer, { "build.sh": "two" });
    seen.push(await digest());
    await put("a", { ...layer, config: { workdir: "/x" } });
    seen.push(await digest());
    await writeFile(join(root, "dist", "x.mjs"), "2");
    seen.push(await digest());
    expect(new Set(seen).size).toBe(seen.length);
  });

  it("says which file is missing and how to get it", async () => {
    await put("a", { kind: "layer", from: null, files: [{ project: "dist/gone.mjs", to: "/x.mjs", mode: "0644" }] });
    await expect(digest()).rejects.toMatchObject({
      code: "IMAGE_FILE_MISSING",
      message: `${join(root, "dist/gone.mjs")} is not there, and goes into an image as /x.mjs`,
      hint: "Build it first: npm run build.",
    });
  });
});
